"""Feature rows: a bucket gets the next free row of every table when a labelled event first shows it.

Frequent features come early, so their rows stand together in memory, and tables hold only rows in use.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features import Buckets
from streamlin.kernel import kernel


class Examples(NamedTuple):
    """A batch as learners read it: n events in CSR form.

    indptr : int64[n + 1]; event i has entries `indptr[i]` to `indptr[i + 1]`.
    rows : int32[nnz]; -1 where the bucket has no row.
    values : float32[nnz].
    rows_before : int64[n]; rows that events before event i brought. A row from there on is the event's own: it takes
        no part in the event's scores, but in what is learned from it.
    """

    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]
    rows_before: NDArray[np.int64]


class RowIndex:
    """Which row each of the 2^bits buckets has; rows are given in order of first sight."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._row_of = np.full(1 << bits, -1, np.int32)
        self._buckets = np.empty(1024, np.int32)
        self._n_rows = 0

    def __len__(self) -> int:
        return self._n_rows

    @property
    def buckets(self) -> NDArray[np.int32]:
        """int32[n_rows], the bucket of each row."""
        return self._buckets[: self._n_rows]

    def restore(self, buckets: NDArray[np.int32]) -> None:
        """Give `buckets`, int32[n_rows], the rows 0, 1, …; for an index that has none yet."""
        self._buckets, self._n_rows = buckets.copy(), buckets.size
        self._row_of[buckets] = np.arange(buckets.size, dtype=np.int32)

    def examples(self, features: Buckets, learned: NDArray[np.bool_] | None = None) -> Examples:
        """Look rows up, in stream order; events with `learned` (bool[n]) bring rows for their new buckets."""
        indptr, buckets, values = features
        rows = np.empty(buckets.size, np.int32)
        rows_before = np.empty(indptr.size - 1, np.int64)
        if learned is None:
            rows_before[:] = self._n_rows
            look_up_rows(buckets, self._row_of, rows)
            return Examples(indptr, rows, values, rows_before)
        if self._buckets.size < self._n_rows + buckets.size:
            self._buckets = np.resize(self._buckets, 2 * self._buckets.size + buckets.size)
        self._n_rows = assign_rows(
            indptr, buckets, learned, self._row_of, self._buckets, self._n_rows, rows, rows_before
        )
        return Examples(indptr, rows, values, rows_before)


@kernel
def look_up_rows(
    buckets: NDArray[np.int32],
    row_of: NDArray[np.int32],
    rows: NDArray[np.int32],
) -> None:
    """Set rows int32[nnz] to those of buckets int32[nnz]."""
    for j in range(buckets.size):
        rows[j] = row_of[buckets[j]]


@kernel
def assign_rows(
    indptr: NDArray[np.int64],
    buckets: NDArray[np.int32],
    learned: NDArray[np.bool_],
    row_of: NDArray[np.int32],
    bucket_of: NDArray[np.int32],
    n_rows: int,
    rows: NDArray[np.int32],
    rows_before: NDArray[np.int64],
) -> int:
    """Set rows int32[nnz] and rows_before int64[n], event by event; learned events bring rows.

    row_of int32[2^bits] and bucket_of int32[>= n_rows + nnz] are changed in place. Returns the new number of rows.
    """
    for i in range(learned.size):
        rows_before[i] = n_rows
        for j in range(indptr[i], indptr[i + 1]):
            row = row_of[buckets[j]]
            if row < 0 and learned[i]:
                row = np.int32(n_rows)
                row_of[buckets[j]] = row
                bucket_of[n_rows] = buckets[j]
                n_rows += 1
            rows[j] = row
    return n_rows
