"""Tables of taggers in a checkpoint: only the cells that are not 0.

In memory a row has a cell for each tag, since that is fastest; most of them stay 0, as most features meet a few tags.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.learners.tables import Array


def packed(tables: Mapping[str, Array], slots: NDArray[np.int32], n_tags: int) -> dict[str, Array]:
    """The cells of tables [places, >= n_tags] in which one of them is not 0.

    slots : int32[n_rows], the place of each row; -1 for a row of zeros without one. Returns `sizes`, uint16[n_rows],
    the number of each row's cells; `tags`, uint16[cells], their tags; and by the name of each table its values,
    float32[cells].
    """
    arrays = list(tables.values())
    first, second = arrays[0], arrays[-1]
    sizes = np.empty(slots.size, np.uint16)
    total = count_cells(first, second, slots, n_tags, sizes)
    tags, values = np.empty(total, np.uint16), [np.empty(total, np.float32) for _ in arrays]
    pack(first, second, slots, n_tags, tags, values[0], values[-1])
    return {"sizes": sizes, "tags": tags, **dict(zip(tables, values, strict=True))}


def unpacked(sizes: Array, tags: Array, values: Array, capacity: int) -> NDArray[np.float32]:
    """The table [n_rows, capacity] of one of `packed`'s columns of values."""
    table = np.zeros((sizes.size, capacity), np.float32)
    rows = np.repeat(np.arange(sizes.size), sizes)
    table[rows, tags] = values
    return table


def packed_slots(sizes: Array) -> NDArray[np.int32]:
    """int32[n_rows]: places for the rows that have a cell, in their order; -1 for the others."""
    filled = sizes > 0
    return np.where(filled, np.cumsum(filled) - 1, -1).astype(np.int32)


@kernel
def count_cells(
    first: NDArray[np.float32],
    second: NDArray[np.float32],
    slots: NDArray[np.int32],
    n_tags: int,
    sizes: NDArray[np.uint16],
) -> int:
    """Set sizes[row] to the number of cells in which one of two tables is not 0; returns their sum."""
    total = 0
    for row in range(sizes.size):
        size, slot = 0, slots[row]
        for k in range(n_tags if slot >= 0 else 0):
            size += first[slot, k] != 0.0 or second[slot, k] != 0.0
        sizes[row] = size
        total += size
    return total


@kernel
def pack(
    first: NDArray[np.float32],
    second: NDArray[np.float32],
    slots: NDArray[np.int32],
    n_tags: int,
    tags: NDArray[np.uint16],
    first_values: NDArray[np.float32],
    second_values: NDArray[np.float32],
) -> None:
    """Copy these cells, row by row."""
    at = 0
    for row in range(slots.size):
        slot = slots[row]
        for k in range(n_tags if slot >= 0 else 0):
            if first[slot, k] != 0.0 or second[slot, k] != 0.0:
                tags[at], first_values[at], second_values[at] = k, first[slot, k], second[slot, k]
                at += 1
