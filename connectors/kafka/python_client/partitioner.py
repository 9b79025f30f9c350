"""Which partition a key belongs to, as Kafka's own clients say: murmur2(key) mod n."""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel


def partitions_of(data: NDArray[np.uint8], bounds: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """int64[m]: the partition, of n, of each of m keys data[bounds[i]:bounds[i + 1]]."""
    found = np.zeros(bounds.size - 1, np.int64)
    if n > 1:
        spread(data, bounds, n, found)
    return found


@kernel
def spread(data: NDArray[np.uint8], bounds: NDArray[np.int64], n: int, found: NDArray[np.int64]) -> None:
    """Set found[i] to the partition, of n, of the key data[bounds[i]:bounds[i + 1]]."""
    for i in range(found.size):
        found[i] = np.int64(murmur2(data, bounds[i], bounds[i + 1]) & np.uint32(0x7FFFFFFF)) % n


@kernel
def murmur2(data: NDArray[np.uint8], begin: int, end: int) -> np.uint32:
    """32 bits; A. Appleby's MurmurHash2 with Kafka's seed 0x9747b28c."""
    m, size = np.uint32(0x5BD1E995), end - begin
    h = np.uint32(np.uint32(0x9747B28C) ^ np.uint32(size))
    at = begin
    while end - at >= 4:
        k = np.uint32(0)
        for j in range(4):
            k |= np.uint32(np.uint32(data[at + j]) << np.uint32(8 * j))
        k = np.uint32(k * m)
        k ^= np.uint32(k >> np.uint32(24))
        k = np.uint32(k * m)
        h = np.uint32(np.uint32(h * m) ^ k)
        at += 4
    if at < end:
        for j in range(end - at):
            h ^= np.uint32(np.uint32(data[at + j]) << np.uint32(8 * j))
        h = np.uint32(h * m)
    h ^= np.uint32(h >> np.uint32(13))
    h = np.uint32(h * m)
    return np.uint32(h ^ np.uint32(h >> np.uint32(15)))
