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
    for unit in range(size):
        for n in range(shortest, min(longest, size - unit) + 1):
            buckets[count] = folded(murmur3_32(data, bounds[unit], bounds[unit + n] - gap), bits)
            count += 1
    return count


@kernel
def append_words(
    data: NDArray[np.uint8],
    edges: NDArray[np.int64],
    n_edges: np.int64,
    min_length: int,
    bits: int,
    buckets: NDArray[np.int32],
    count: np.int64,
) -> np.int64:
    """Write the buckets of the tokens between edges to `buckets[count:]`, see `find_tokens`; returns the new count."""
    for unit in range(n_edges // 2):
        begin, end = edges[2 * unit], edges[2 * unit + 1]
        buckets[count] = folded(murmur3_32(data, begin, end), bits)  # `bucket_of` is too large to become part of a loop
        count += end - begin >= min_length
    return count


@kernel
def bucket_of(data: NDArray[np.uint8], begin: np.int64, end: np.int64, bits: int) -> np.int64:
    """The bucket of `data[begin:end]`, see `folded`."""
    return folded(murmur3_32(data, begin, end), bits)


@kernel
def folded(h: np.int32, bits: int) -> np.int64:
    """abs(h) mod 2^bits for a hash h; in 64 bits, where abs(-2^31) does not overflow."""
    return abs(np.int64(h)) & ((1 << bits) - 1)


def buckets_of(hashes: NDArray[np.int32], bits: int) -> NDArray[np.int64]:
    """int64[n]: abs(h) mod 2^bits for each hash h."""
    return np.abs(hashes.astype(np.int64)) & ((1 << bits) - 1)
