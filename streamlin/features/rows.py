"""Feature rows: a bucket gets the next free row of every table with the first labelled event that contains it.

Frequent features occur early, so their rows are adjacent in memory, and tables hold only rows in use.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.features import Buckets
from streamlin.kernel import kernel
from streamlin.kernel.late import beside, late_kernel
from streamlin.kernel.prefetch import prefetch
from streamlin.storage.arrays import Expected, expected

_RARE = -2
_AHEAD = 32
"""Entries by which rows are asked for before they are looked up."""


class Examples(NamedTuple):
    """A batch as learners read it: n events in CSR form.

    indptr : int64[n + 1]; event i has entries `indptr[i]` to `indptr[i + 1]`.
    rows : int32[nnz or more]; -1 where the bucket has no row. Entries after those of the last event are undefined.
    values : float32[nnz or more], likewise.
    rows_before : int64[n]; the number of rows that the events before event i brought. Rows from there on are new with
        the event: they do not count in its scores, but are learned.
    """

    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]
    rows_before: NDArray[np.int64]


class RowIndex:
    """The row of each of the 2^bits buckets; rows are assigned in order of first sight.

    row_of : int32[2^bits]; -1 where a bucket has no row.
    bucket_of : int32[n_rows or more], the bucket of each row. n_rows : the number of rows.
    min_count : the number of sightings, in events that are learned, at which a bucket gets its row. Before that it is
        no feature, in unlabelled events too: otherwise an event's label would change its own prediction.
    """

    def __init__(self, bits: int, min_count: int = 1) -> None:
        self.bits, self.min_count = bits, min_count
        self.row_of = np.full(1 << bits, -1, np.int32)
        self._sightings = np.zeros(1 << bits if min_count > 1 else 0, np.int32)
        self.bucket_of = np.empty(1024, np.int32)
        self.n_rows = 0

    def __len__(self) -> int:
        return self.n_rows

    def __getstate__(self) -> tuple[int, int, NDArray[np.int32], NDArray[np.int32]]:
        """The state to pickle: only the buckets in use."""
        return self.bits, self.min_count, self.buckets, self.sightings

    def __setstate__(self, state: tuple[int, int, NDArray[np.int32], NDArray[np.int32]]) -> None:
        bits, min_count, buckets, sightings = state
        RowIndex.__init__(self, bits, min_count)
        self.restore(buckets, sightings)

    @property
    def buckets(self) -> NDArray[np.int32]:
        """int32[n_rows], the bucket of each row."""
        return self.bucket_of[: self.n_rows]

    @property
    def sightings(self) -> NDArray[np.int32]:
        """int32[2, m]: the buckets that were seen but have no row yet, and the sightings of each."""
        waiting = np.flatnonzero(self._sightings).astype(np.int32)
        return np.stack([waiting, self._sightings[waiting]])

    def expected(self) -> tuple[Expected, Expected]:
        """What `buckets` and `sightings` of a checkpoint must be."""
        buckets = expected(np.int32, None, highest=(1 << self.bits) - 1)
        return buckets, expected(np.int32, 2, None)

    def restore(self, buckets: NDArray[np.int32], sightings: NDArray[np.int32] | None = None) -> None:
        """Give `buckets`, int32[n_rows], the rows 0, 1, …, instead of those that the index has.

        Raises
        ------
        CheckpointError : two rows have the same bucket, or a bucket that was seen does not exist.
        """
        if sightings is not None:
            if sightings[0].max(initial=0) >= len(self.row_of):
                raise CheckpointError(f"the checkpoint counts sightings of a bucket beyond 2^{self.bits}")
            self._sightings[sightings[0]] = sightings[1]
        self.forget(0)
        self.bucket_of, self.n_rows = buckets.copy(), buckets.size
        rows = np.arange(buckets.size, dtype=np.int32)
        self.row_of[buckets] = rows
        if not np.array_equal(self.row_of[buckets], rows):
            raise CheckpointError("the checkpoint gives one bucket two rows")

    def examples(self, features: Buckets, learned: NDArray[np.bool_] | None = None) -> Examples:
        """Look up rows in stream order; events with `learned` (bool[n]) bring rows for their new buckets."""
        indptr, buckets, values = features
        rows = np.empty(buckets.size, np.int32)
        rows_before = np.empty(indptr.size - 1, np.int64)
        if learned is None:
            learned = np.zeros(indptr.size - 1, np.bool_)
        self.assign(indptr, buckets, learned, rows, rows_before)
        examples = Examples(indptr, rows, values, rows_before)
        return examples if self.min_count == 1 else _without_rare(examples)

    def assign(
        self,
        indptr: NDArray[np.int64],
        buckets: NDArray[np.int32],
        learned: NDArray[np.bool_],
        rows: NDArray[np.int32],
        rows_before: NDArray[np.int64],
    ) -> None:
        """Set rows and rows_before as `assign_rows` does."""
        self.make_room(buckets.size)
        self.n_rows = assign_rows(
            indptr,
            buckets,
            learned,
            self.min_count,
            self._sightings,
            self.row_of,
            self.bucket_of,
            self.n_rows,
            rows,
            rows_before,
        )

    def bring(self, buckets: NDArray[np.int32]) -> NDArray[np.int32]:
        """int32[n]: the rows of n buckets, before any event; those without a row get the next ones, in order."""
        self.make_room(buckets.size)
        as_event, rows = np.array([0, buckets.size]), np.empty(buckets.size, np.int32)
        self.n_rows = assign_rows(
            as_event,
            buckets,
            np.ones(1, np.bool_),
            1,  # whatever the index asks of events
            self._sightings,
            self.row_of,
            self.bucket_of,
            self.n_rows,
            rows,
            np.empty(1, np.int64),
        )
        return rows

    def forget(self, n_rows: int) -> None:
        """Take back the rows from `n_rows` on."""
        self.row_of[self.bucket_of[n_rows : self.n_rows]] = -1
        self.n_rows = n_rows

    def count_new(self, buckets: NDArray[np.int32], one_event: bool = False) -> int:
        """How many rows learned events with these buckets bring; with `min_count` that is exact for one event only."""
        unseen = buckets[self.row_of[buckets] < 0]
        if one_event and self.min_count > 1:
            unseen = unseen[self._sightings[unseen] + 1 >= self.min_count]
        return int(np.unique(unseen).size) if unseen.size else 0

    def make_room(self, entries: int) -> None:
        """Ensure room for so many more rows."""
        if self.bucket_of.size < self.n_rows + entries:
            self.bucket_of = np.resize(self.bucket_of, 2 * self.bucket_of.size + entries)


def _without_rare(examples: Examples) -> Examples:
    """The examples without entries that are no features yet."""
    kept = examples.rows != _RARE
    counts = np.zeros(kept.size + 1, np.int64)
    np.cumsum(kept, out=counts[1:])
    return Examples(counts[examples.indptr], examples.rows[kept], examples.values[kept], examples.rows_before)


def _assign_rows(
    indptr: NDArray[np.int64],
    buckets: NDArray[np.int32],
    learned: NDArray[np.bool_],
    min_count: int,
    sightings: NDArray[np.int32],
    row_of: NDArray[np.int32],
    bucket_of: NDArray[np.int32],
    n_rows: int,
    rows: NDArray[np.int32],
    rows_before: NDArray[np.int64],
) -> int:
    """As `assign_rows`, by lists and dictionaries."""
    bounds, known = indptr.tolist(), buckets[: indptr[-1]]
    codes, own, brought = known.tolist(), row_of[known].tolist(), dict[int, int]()
    seen = dict(zip(codes, sightings[known].tolist(), strict=True)) if min_count > 1 else {}
    for i, is_learned in enumerate(learned.tolist()):
        rows_before[i] = n_rows
        for j in range(bounds[i], bounds[i + 1]):
            bucket, row = codes[j], own[j]
            if row < 0:
                row = brought.get(bucket, row)
            if row < 0 and min_count > 1 and seen[bucket] + 1 < min_count:
                seen[bucket] += is_learned
                row = _RARE
            elif row < 0 and is_learned:
                row = brought[bucket] = n_rows
                bucket_of[n_rows] = bucket
                n_rows += 1
                seen[bucket] = 0
            rows[j] = row
    row_of[[*brought]] = [*brought.values()]
    if min_count > 1:
        sightings[[*seen]] = [*seen.values()]
    return n_rows


@late_kernel
@beside(_assign_rows)
def assign_rows(
    indptr: NDArray[np.int64],
    buckets: NDArray[np.int32],
    learned: NDArray[np.bool_],
    min_count: int,
    sightings: NDArray[np.int32],
    row_of: NDArray[np.int32],
    bucket_of: NDArray[np.int32],
    n_rows: int,
    rows: NDArray[np.int32],
    rows_before: NDArray[np.int64],
) -> int:
    """Set rows int32[nnz] and rows_before int64[n], event by event; learned events bring rows.

    A row is -1 where a bucket has no row, -2 where it would have none even if the event were learned.
    sightings int32[2^bits] (empty if min_count is 1), row_of int32[2^bits] and bucket_of int32[>= n_rows + nnz] are
    changed in place. Returns the new number of rows.
    """
    for i in range(learned.size):
        rows_before[i] = n_rows
        for j in range(indptr[i], indptr[i + 1]):
            prefetch(row_of, buckets[min(j + _AHEAD, buckets.size - 1)])
            bucket = buckets[j]
            row = row_of[bucket]
            if row < 0 and min_count > 1 and sightings[bucket] + 1 < min_count:
                sightings[bucket] += learned[i]
                row = np.int32(_RARE)
            elif row < 0 and learned[i]:
                row = np.int32(n_rows)
                row_of[bucket] = row
                bucket_of[n_rows] = bucket
                n_rows += 1
                if min_count > 1:
                    sightings[bucket] = 0
            rows[j] = row
    return n_rows


def _nothing_to_prefetch(examples: Examples, i: int, table: NDArray[Any]) -> None:
    """In Python there is nothing to ask for."""


@kernel
@beside(_nothing_to_prefetch)
def prefetch_rows(examples: Examples, i: int, table: NDArray[Any]) -> None:
    """Ask for a table's rows of event i, if there is one, while the event before it is learned."""
    if i < examples.indptr.size - 1:
        for j in range(examples.indptr[i], examples.indptr[i + 1]):
            prefetch(table, examples.rows[j])
