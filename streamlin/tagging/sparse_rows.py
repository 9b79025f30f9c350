"""Tables of taggers in a checkpoint: only the cells that are not 0.

In memory a row has a cell for each tag, since that is fastest; most of them stay 0, as most features meet a few tags.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.learners.tables import Array


def packed(tables: Mapping[str, Array], n_rows: int, n_tags: int) -> dict[str, Array]:
    """The cells of tables [>= n_rows, >= n_tags] in which one of them is not 0.

    Returns `sizes`, uint16[n_rows], the number of each row's cells; `tags`, uint16[cells], their tags; and by the name
    of each table its values, float32[cells].
    """
    arrays = list(tables.values())
    first, second = arrays[0], arrays[-1]
    sizes = np.empty(n_rows, np.uint16)
    total = count_cells(first, second, n_tags, sizes)
    tags, values = np.empty(total, np.uint16), [np.empty(total, np.float32) for _ in arrays]
    pack(first, second, n_tags, tags, values[0], values[-1], n_rows)
    return {"sizes": sizes, "tags": tags, **dict(zip(tables, values, strict=True))}


def unpacked(sizes: Array, tags: Array, values: Array, capacity: int) -> NDArray[np.float32]:
    """The table [n_rows, capacity] of one of `packed`'s columns of values."""
    table = np.zeros((sizes.size, capacity), np.float32)
    rows = np.repeat(np.arange(sizes.size), sizes)
    table[rows, tags] = values
    return table


@kernel
def count_cells(first: NDArray[np.float32], second: NDArray[np.float32], n_tags: int, sizes: NDArray[np.uint16]) -> int:
    """Set sizes[row] to the number of cells in which one of two tables is not 0; returns their sum."""
    total = 0
    for row in range(sizes.size):
        size = 0
        for k in range(n_tags):
            size += first[row, k] != 0.0 or second[row, k] != 0.0
        sizes[row] = size
        total += size
    return total


@kernel
def pack(
    first: NDArray[np.float32],
    second: NDArray[np.float32],
    n_tags: int,
    tags: NDArray[np.uint16],
    first_values: NDArray[np.float32],
    second_values: NDArray[np.float32],
    n_rows: int,
) -> None:
    """Copy these cells, row by row."""
    at = 0
    for row in range(n_rows):
        for k in range(n_tags):
            if first[row, k] != 0.0 or second[row, k] != 0.0:
                tags[at], first_values[at], second_values[at] = k, first[row, k], second[row, k]
                at += 1
