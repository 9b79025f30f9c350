"""Hashes n-grams into buckets."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.murmur3 import murmur3_32
from streamlin.kernel import kernel


@kernel
def append_ngrams(
    data: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    gap: int,
    shortest: int,
    longest: int,
    bits: int,
    buckets: NDArray[np.int32],
    count: np.int64,
) -> np.int64:
    """Write the buckets of the n-grams of some units to `buckets[count:]`; returns the new count.

    Units j to k, inclusive, are `data[bounds[j] : bounds[k + 1] - gap]`: tokens separated by a blank (gap 1), or
    characters (gap 0). n-grams are ordered by position, and by length at the same position.
    """
    size = bounds.size - 1
    if longest == 1:  # by the loops below it takes half as long again
        for unit in range(size):
            buckets[count + unit] = bucket_of(data, bounds[unit], bounds[unit + 1] - gap, bits)
        return count + size
    for unit in range(size):
        for n in range(shortest, min(longest, size - unit) + 1):
            buckets[count] = bucket_of(data, bounds[unit], bounds[unit + n] - gap, bits)
            count += 1
    return count


@kernel
def bucket_of(data: NDArray[np.uint8], begin: np.int64, end: np.int64, bits: int) -> np.int64:
    """abs(h) mod 2^bits for the murmur3 hash h of `data[begin:end]`; in 64 bits, where abs(-2^31) does not overflow."""
    return abs(np.int64(murmur3_32(data, begin, end))) & ((1 << bits) - 1)


def buckets_of(hashes: NDArray[np.int32], bits: int) -> NDArray[np.int64]:
    """int64[n]: abs(h) mod 2^bits for each hash h."""
    return np.abs(hashes.astype(np.int64)) & ((1 << bits) - 1)
