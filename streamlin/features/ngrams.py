"""n-grams of tokens, or of the characters of tokens, hashed into buckets."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.murmur3 import murmur3_32
from streamlin.kernel import kernel


@kernel
def bucket_of(octets: NDArray[np.uint8], begin: int, end: int, bits: int) -> int:
    """abs(h) mod 2^bits, h the murmur3 of `octets[begin:end]`; in 64 bits, where -2^31 too has an absolute value."""
    return abs(np.int64(murmur3_32(octets, begin, end))) & ((1 << bits) - 1)


@kernel
def token_ngrams(
    octets: NDArray[np.uint8],
    starts: NDArray[np.int64],
    first: int,
    after: int,
    shortest: int,
    longest: int,
    bits: int,
    buckets: NDArray[np.int32],
    count: int,
) -> int:
    """Append the buckets of the n-grams of tokens `first` to `after` to `count` ones; return how many there are then.

    octets, starts : the tokens, see `write_tokens`. n-grams come by their position, at each the shorter first.
    """
    for token in range(first, after):
        for n in range(shortest, min(longest, after - token) + 1):
            buckets[count] = bucket_of(octets, starts[token], starts[token + n] - 1, bits)
            count += 1
    return count


@kernel
def character_ngrams(
    octets: NDArray[np.uint8],
    begin: int,
    end: int,
    offsets: NDArray[np.int64],
    shortest: int,
    longest: int,
    bits: int,
    buckets: NDArray[np.int32],
    count: int,
) -> int:
    """The same of the characters of `octets[begin:end]`, a token with the blanks on both sides.

    A token of fewer than `shortest` characters, blanks and all, is one n-gram. `offsets` is scratch.
    """
    size = 0
    for i in range(begin, end):
        if octets[i] & 0xC0 != 0x80:
            offsets[size] = i
            size += 1
    offsets[size] = end
    for character in range(size):
        for n in range(min(shortest, size), min(longest, size - character) + 1):
            buckets[count] = bucket_of(octets, offsets[character], offsets[character + n], bits)
            count += 1
    return count
