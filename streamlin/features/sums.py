"""Sums repeated buckets of an event into one entry."""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

_FREE = -1


@kernel
def sum_repeats(indptr: NDArray[np.int64], buckets: NDArray[np.int32], values: NDArray[np.float32], bits: int) -> None:
    """Sum, in place, the values of equal buckets of each event; entries keep the order of first occurrence.

    Uses a table of open addressing with linear probing (Knuth, TAOCP 3, 6.4, algorithm L), which fits the L1 cache for
    short events. Whether a word repeats is unpredictable, so both cases take the same branch-free path.
    """
    keys, places = np.empty(256, np.int32), np.empty(256, np.int64)
    last = begin = np.int64(0)
    for i in range(indptr.size - 1):
        end = indptr[i + 1]
        size = _slots(end - begin, bits)
        if size > keys.size:
            keys, places = np.empty(size, np.int32), np.empty(size, np.int64)
        for slot in range(size):
            keys[slot] = _FREE
        for entry in range(begin, end):
            bucket = buckets[entry]
            slot = bucket & (size - 1)
            while keys[slot] != bucket and keys[slot] != _FREE:
                slot = (slot + 1) & (size - 1)
            is_new = keys[slot] == _FREE
            place = last if is_new else places[slot]
            keys[slot], places[slot] = bucket, place
            value = values[entry]
            values[place] = value if is_new else values[place] + value
            buckets[place] = bucket
            last += is_new
        indptr[i + 1] = last
        begin = end


@kernel
def _slots(entries: int, bits: int) -> int:
    """A power of two: room for twice as many entries, or one slot for every bucket."""
    size = 1
    while size < 2 * entries and size < 1 << bits:
        size *= 2
    return size
