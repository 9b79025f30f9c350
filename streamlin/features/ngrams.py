"""n-grams of words or characters, hashed into buckets and summed."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.murmur3 import murmur3_32
from streamlin.kernel import kernel

FREE = -1


@kernel
def add_ngrams(
    octets: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    size: int,
    gap: int,
    shortest: int,
    longest: int,
    bits: int,
    repeat: float,
    keys: NDArray[np.int32],
    places: NDArray[np.int32],
    last: int,
    buckets: NDArray[np.int32],
    values: NDArray[np.float32],
) -> int:
    """Add the n-grams of `size` units to an event's entries, of which the next goes to `last`; return the new `last`.

    Unit j and the n - 1 behind it are `octets[offsets[j] : offsets[j + n] - gap]`. They come by their position, at
    each the shorter first. An n-gram counts 1, and `repeat` where its bucket has an entry.
    """
    for j in range(size):
        for n in range(shortest, min(longest, size - j) + 1):
            bucket = bucket_of(octets, offsets[j], offsets[j + n] - gap, bits)
            last = add(bucket, 1.0, repeat, keys, places, last, buckets, values)
    return last


@kernel
def bucket_of(octets: NDArray[np.uint8], begin: int, end: int, bits: int) -> int:
    """abs(h) mod 2^bits, h the murmur3 of `octets[begin:end]`; -2^31, too, has its absolute value."""
    return abs(np.int64(murmur3_32(octets, begin, end))) & ((1 << bits) - 1)


@kernel
def add(
    bucket: int,
    value: float,
    repeat: float,
    keys: NDArray[np.int32],
    places: NDArray[np.int32],
    last: int,
    buckets: NDArray[np.int32],
    values: NDArray[np.float32],
) -> int:
    """Add `repeat` to the bucket's entry, or make it one of `value` at `last`; return the new `last`.

    keys, places : open addressing with linear probing (Knuth, TAOCP 3, 6.4, algorithm L): a bucket and its entry, or
        FREE. Their size is a power of two, with a slot free or a slot for every bucket.
    Whether a word came before is what no processor foresees, so both cases go one way.
    """
    mask = keys.size - 1
    slot = bucket & mask
    while keys[slot] != bucket and keys[slot] != FREE:
        slot = (slot + 1) & mask
    is_new = keys[slot] == FREE
    place = last if is_new else np.int64(places[slot])
    keys[slot], places[slot] = bucket, place
    buckets[place] = bucket
    values[place] = value if is_new else values[place] + repeat
    return last + is_new
