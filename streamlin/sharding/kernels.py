"""Kernels that copy rows of a table, and take back what was learned since."""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.prefetch import prefetch
from streamlin.learners.tables import Array

_AHEAD = 32
"""Buckets by which rows are asked for before they are looked up."""
_ROWS_AHEAD = 16
"""Rows by which those of tables are asked for."""


@kernel
def mark_rows(row_of: NDArray[np.int32], buckets: NDArray[np.int32], marks: NDArray[np.bool_]) -> int:
    """Set marks [n_rows] of the rows of buckets; returns how many have none."""
    without = 0
    for j in range(buckets.size):
        prefetch(row_of, buckets[min(j + _AHEAD, buckets.size - 1)])
        row = row_of[buckets[j]]
        if row >= 0:
            marks[row] = True
        else:
            without += 1
    return without


def places_of(marks: NDArray[np.bool_]) -> NDArray[np.int32]:
    """int32[m]: where the marks [n] are set, in ascending order; several times as fast as numpy's `flatnonzero`."""
    places = np.empty(marks.size + 1, np.int32)
    return places[: find_places(marks, places)]


@kernel
def find_places(marks: NDArray[np.bool_], places: NDArray[np.int32]) -> int:
    """Set the first places [n + 1] to where the marks [n] are set; returns their number."""
    found = np.uint64(0)
    for place in range(np.uint64(marks.size)):
        places[found] = np.int32(place)
        found += np.uint64(marks[place])
    return int(found)


@kernel
def copy_rows(table: Array, rows: NDArray[np.int32], copies: Array) -> None:
    """Set copies [m or more, k] to the first k columns of the rows [m].

    Copies may be the table, if rows are in ascending order: it keeps these rows then, and they are its first.
    """
    if copies.shape[1] == 2:  # a loop over two columns is no loop to the compiler
        _copy_columns(table, rows, copies, 2)
    else:
        _copy_columns(table, rows, copies, copies.shape[1])


@kernel
def _copy_columns(table: Array, rows: NDArray[np.int32], copies: Array, n_columns: int) -> None:
    for i in range(rows.size):
        prefetch(table, rows[min(i + _ROWS_AHEAD, rows.size - 1)])
        row = np.uint64(rows[i])
        for k in range(n_columns):
            copies[i, k] = table[row, k]


@kernel
def take_back_rows(
    table: Array, rows: NDArray[np.int32], copies: Array, differences: Array, changed: NDArray[np.bool_]
) -> None:
    """Set the rows [m] back to copies, and differences [m, k] to what has changed; changed [m] is set for such rows.

    copies [n, k']: of the first n rows; what they lack was 0. They may lie where the differences will.
    """
    n, known = copies.shape
    for i in range(rows.size):
        prefetch(table, rows[min(i + _ROWS_AHEAD, rows.size - 1)])
        row, differs, copied = np.uint64(rows[i]), False, known if i < n else 0
        for k in range(copied):
            before = copies[i, k]
            difference = table[row, k] - before
            differences[i, k], table[row, k] = difference, before
            differs |= difference != 0
        for k in range(copied, differences.shape[1]):
            difference = table[row, k]
            differences[i, k], table[row, k] = difference, 0
            differs |= difference != 0
        changed[i] |= differs
