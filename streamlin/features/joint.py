"""Several views as one: the features of one view behind those of the other, with rows of their own in one table."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.features.rows import Examples, RowIndex
from streamlin.kernel.late import beside, late_kernel
from streamlin.storage.arrays import Expected, expected


class JointRows:
    """The rows of a learner that reads several views: those of the views, in the order in which events bring them.

    indexes : the row index of each view, which the learner shares with those that read that view alone.
    scaled : whether the values of each view are scaled to length 1, as far as its event has any::

        x = (x_1 / |x_1|, ..., x_V / |x_V|)
    """

    def __init__(self, indexes: Sequence[RowIndex], scaled: bool) -> None:
        self.indexes, self.scaled = tuple(indexes), scaled
        self._rows = [np.zeros(0, np.int32) for _ in indexes]
        """Of each view: int32[n_rows or more], the learner's row of each row of the view."""
        self._sizes = [0 for _ in indexes]

    def __len__(self) -> int:
        return sum(self._sizes)

    @property
    def rows(self) -> list[NDArray[np.int32]]:
        """Of each view: int32[n_rows], the learner's row of each row of the view."""
        return [rows[:size] for rows, size in zip(self._rows, self._sizes, strict=True)]

    def places(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """int32[n_rows]: the number of the view, and the row in it, of each of the learner's rows."""
        views, rows = np.empty(len(self), np.int32), np.empty(len(self), np.int32)
        for view, own in enumerate(self.rows):
            views[own], rows[own] = view, np.arange(own.size)
        return views, rows

    def forget(self, sizes: Sequence[int]) -> None:
        """Take back the rows of each view from its size on."""
        self._sizes = [*sizes]

    def take_in(self) -> None:
        """Number the rows that the views have got otherwise than by events, those of one view behind the other's."""
        for view, index in enumerate(self.indexes):
            before = len(self)
            self._add(view, np.arange(before, before + len(index) - self._sizes[view]))

    def examples(self, views: Sequence[Examples]) -> Examples:
        """The same n events, as each view has them, as the learner reads them."""
        before = [own.rows_before for own in views]
        after = [np.append(own.rows_before[1:], len(index)) for own, index in zip(views, self.indexes, strict=True)]
        ends = np.sum([own.indptr for own in views], axis=0)
        rows, values = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.float32)
        at = ends[:-1].copy()
        for view, own in enumerate(views):
            if self._sizes[view] < len(self.indexes[view]):  # what an event brings is behind what it brings before
                shift = np.sum([*after[:view], *before[view + 1 :]], axis=0)
                brought = after[view] - before[view]
                self._add(view, np.repeat(shift, brought) + np.arange(self._sizes[view], len(self.indexes[view])))
            place_entries(own.indptr, own.rows, own.values, self._rows[view], self.scaled, at, rows, values)
        return Examples(ends, rows, values, np.sum(before, axis=0))

    def _add(self, view: int, rows: NDArray[np.int64]) -> None:
        """Give the next rows of a view these rows of the learner."""
        begin, end = self._sizes[view], self._sizes[view] + rows.size
        if end > self._rows[view].size:
            self._rows[view] = np.resize(self._rows[view], 2 * end)
        self._rows[view][begin:end] = rows
        self._sizes[view] = end

    def state(self) -> NDArray[np.int32]:
        """int32[n_rows]: the learner's rows of those of the first view, then of the second, and so on."""
        return np.concatenate(self.rows)

    @staticmethod
    def expected(n_rows: int) -> Expected:
        """What a `state` with so many rows must be."""
        return expected(np.int32, n_rows, highest=n_rows - 1)

    def restore(self, state: NDArray[np.int32]) -> None:
        """Restore what `state` returned; the indexes must be restored already. Raises CheckpointError."""
        if np.unique(state).size != state.size:
            raise CheckpointError("the checkpoint gives two features of a learner of several views one row")
        self._sizes = [len(index) for index in self.indexes]
        self._rows = np.split(np.array(state), np.cumsum(self._sizes)[:-1])


def _place_entries(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    row_of: NDArray[np.int32],
    scaled: bool,
    at: NDArray[np.int64],
    all_rows: NDArray[np.int32],
    all_values: NDArray[np.float32],
) -> None:
    """As `place_entries`, in numpy."""
    lengths, (begin, end) = np.diff(indptr), indptr[[0, -1]]
    own, x = rows[begin:end], values[begin:end].astype(np.float64)
    places = np.arange(begin, end) + np.repeat(at - indptr[:-1], lengths)
    if scaled:
        squares = np.bincount(np.repeat(np.arange(at.size), lengths), x * x, at.size)  # from left to right
        x *= np.repeat(1.0 / np.sqrt(np.where(squares > 0.0, squares, 1.0)), lengths)
    all_rows[places] = np.where(own >= 0, row_of[own], own)
    all_values[places] = x
    at += lengths


@late_kernel
@beside(_place_entries)
def place_entries(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    row_of: NDArray[np.int32],
    scaled: bool,
    at: NDArray[np.int64],
    all_rows: NDArray[np.int32],
    all_values: NDArray[np.float32],
) -> None:
    """Write the entries of each event in one view to where `at`, int64[n], says, which is moved on.

    row_of : the new row of each row. scaled : divide the values by their length.
    """
    for i in range(at.size):
        scale = 1.0
        if scaled:
            squares = 0.0
            for j in range(indptr[i], indptr[i + 1]):
                squares += np.float64(values[j]) * np.float64(values[j])
            scale = 1.0 / np.sqrt(squares) if squares > 0.0 else 1.0
        to = at[i]
        for j in range(indptr[i], indptr[i + 1]):
            row = rows[j]
            all_rows[to] = row_of[row] if row >= 0 else row
            all_values[to] = scale * values[j]
            to += 1
        at[i] = to
