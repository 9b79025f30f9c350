"""n-grams hashed into buckets."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.murmur3 import murmur3_32
from streamlin.kernel import kernel


@kernel
def append_ngrams(
    octets: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    gap: int,
    shortest: int,
    longest: int,
    bits: int,
    buckets: NDArray[np.int32],
    count: np.int64,
) -> np.int64:
    """Set `buckets[count:]` to those of the n-grams of some units; return how many there are then.

    Units j to k, both in, are `octets[bounds[j] : bounds[k + 1] - gap]`: tokens with a blank of 1 byte between them,
    or characters with none. n-grams come by their position, at each the shorter first.
    """
    size = bounds.size - 1
    for unit in range(size):
        for n in range(shortest, min(longest, size - unit) + 1):
            buckets[count] = bucket_of(octets, bounds[unit], bounds[unit + n] - gap, bits)
            count += 1
    return count


@kernel
def bucket_of(octets: NDArray[np.uint8], begin: np.int64, end: np.int64, bits: int) -> np.int64:
    """abs(h) mod 2^bits, h the murmur3 of `octets[begin:end]`; in 64 bits, where -2^31 too has an absolute value."""
    return abs(np.int64(murmur3_32(octets, begin, end))) & ((1 << bits) - 1)


def buckets_of(hashes: NDArray[np.int32], bits: int) -> NDArray[np.int64]:
    """The same of many hashes."""
    return np.abs(hashes.astype(np.int64)) & ((1 << bits) - 1)
