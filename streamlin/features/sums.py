"""Sums repeated buckets of an event into one entry."""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

BINARY, COUNTS, LOG = 0, 1, 2
"""What the value of a feature is: 1, how often it occurs, or the logarithm of that and 1."""
_FREE = -1


@kernel
def sum_repeats(indptr: NDArray[np.int64], buckets: NDArray[np.int32], values: NDArray[np.float32], bits: int) -> None:
    """Sum, in place, the values of equal buckets of each event; entries keep the order of first occurrence.

    Uses a table of open addressing with linear probing (Knuth, TAOCP 3, 6.4, algorithm L), which fits the L1 cache for
    short events and is mostly empty, so that few probes collide. Whether a word repeats is unpredictable, so both cases
    take the same branch-free path. The indices are unsigned, which spares a test of each for a negative one.
    """
    one = np.uint64(1)
    keys, places = np.empty(512, np.int32), np.empty(512, np.int32)
    last = begin = np.uint64(0)
    for i in range(np.uint64(indptr.size - 1)):
        end = np.uint64(indptr[i + one])
        size = _slots(np.int64(end - begin), bits)
        if size > keys.size:
            keys, places = np.empty(size, np.int32), np.empty(size, np.int32)
        for emptied in range(np.uint64(size)):
            keys[emptied] = _FREE
        first, mask = last, np.uint64(size - 1)
        for entry in range(begin, end):
            bucket = buckets[entry]
            slot = np.uint64(bucket) & mask
            while keys[slot] != bucket and keys[slot] != _FREE:
                slot = (slot + one) & mask
            is_new = keys[slot] == _FREE
            place = last if is_new else first + np.uint64(places[slot])
            keys[slot], places[slot] = bucket, np.int32(place - first)
            value = values[entry]
            values[place] = value if is_new else values[place] + value
            buckets[place] = bucket
            last += np.uint64(is_new)
        indptr[i + one] = last
        begin = end


@kernel
def _slots(entries: np.int64, bits: int) -> int:
    """A power of two: room for four times as many entries, or one slot for every bucket."""
    size = 1
    while size < 4 * entries and size < 1 << bits:
        size *= 2
    return size
