"""Tables that grow while a learner runs."""

import math
import mmap
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_SMALLEST = 2
_FACTORS = (2.0, 1.125)
_LARGE = 1 << 20


def grown(table: Array, shape: tuple[int, ...], rows_in_use: int) -> Array:
    """The table itself if it is large enough, else a larger one with its content, the rest zeros.

    Only rows in use are copied: the system provides memory for the others once they are written to.
    """
    if all(size <= capacity for size, capacity in zip(shape, table.shape, strict=True)):
        return table
    capacity = [
        old if size <= old else max(size, _SMALLEST) if old == 0 else max(size, int(old * factor))
        for size, old, factor in zip(shape, table.shape, _FACTORS[-len(shape) :], strict=True)
    ]
    return resized(table, capacity, rows_in_use)


def resized(table: Array, shape: Sequence[int], rows_in_use: int | None = None) -> Array:
    """A larger table with the first rows of another one, by default all; the rest are zeros."""
    larger = _zeros(shape, table.dtype)
    if table.ndim == 2:
        rows = table.shape[0] if rows_in_use is None else rows_in_use
        larger[:rows, : table.shape[1]] = table[:rows]
    else:
        larger[: table.size] = table
    return larger


def _zeros(shape: Sequence[int], kind: np.dtype[Any]) -> Array:
    """Zeros; a large array is mapped directly, so that its memory returns to the system once it is replaced.

    The allocator would keep replaced tables, which takes a quarter more memory with 151 labels. Huge pages are asked
    for since rows are read at random: with character n-grams that is 6 % faster.
    """
    size = math.prod(shape) * kind.itemsize
    if size < _LARGE:
        return np.zeros(shape, kind)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # no huge pages on this system
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, kind).reshape(shape)
