"""The n-grams of characters of tokens that were cut lately: texts say the same words again and again.

The memo is direct-mapped: a token has one place, and takes it from the token before. It holds what hashing would find
anew, so that nothing depends on it but time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.words import load_word

_PLACES, _LONGEST, _MOST = 1 << 14, 16, 96
"""The memo has so many places, for tokens of so many bytes, with so many n-grams: 7 MB in all."""
_M = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: Knuth, TAOCP 3, section 6.4, multiplicative hashing."""
ABSENT = -1


class Memo(NamedTuple):
    """Tokens and the buckets of their n-grams.

    tokens : uint64[places, 2], the bytes of each. lengths : int64[places], their number; 0: a free place.
    counts : int64[places], the number of n-grams. buckets : int32[places, 96], those of the n-grams.
    """

    tokens: NDArray[np.uint64]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]
    buckets: NDArray[np.int32]


def new_memo(places: int = _PLACES) -> Memo:
    """An empty memo; without any place it remembers nothing."""
    counts = np.zeros(places, np.int64)
    return Memo(np.zeros((places, 2), np.uint64), counts.copy(), counts, np.empty((places, _MOST), np.int32))


@kernel
def place_of(memo: Memo, data: NDArray[np.uint8], begin: np.int64, end: np.int64) -> int:
    """The place of the token `data[begin:end]`, which is followed by PADDING; ABSENT if it can have none."""
    if memo.lengths.size == 0 or end - begin > _LONGEST:
        return ABSENT
    low, high = _words(data, begin, end)
    mixed = (low ^ (high * _M) ^ np.uint64(end - begin)) * _M
    return int(mixed >> np.uint64(40)) & (memo.lengths.size - 1)


@kernel
def recall(
    memo: Memo,
    place: int,
    data: NDArray[np.uint8],
    begin: np.int64,
    end: np.int64,
    buckets: NDArray[np.int32],
    count: np.int64,
) -> np.int64:
    """Write the buckets of a token to `buckets[count:]` if it is in its place; returns the new count, else ABSENT."""
    if memo.lengths[place] != end - begin:
        return np.int64(ABSENT)
    low, high = _words(data, begin, end)
    if memo.tokens[place, 0] != low or memo.tokens[place, 1] != high:
        return np.int64(ABSENT)
    for j in range(memo.counts[place]):
        buckets[count + j] = memo.buckets[place, j]
    return np.int64(count + memo.counts[place])


@kernel
def remember(
    memo: Memo, place: int, data: NDArray[np.uint8], begin: np.int64, end: np.int64, buckets: NDArray[np.int32]
) -> None:
    """Put a token with its buckets in its place, unless they are too many."""
    if buckets.size <= _MOST:
        memo.tokens[place, 0], memo.tokens[place, 1] = _words(data, begin, end)
        memo.lengths[place], memo.counts[place] = end - begin, buckets.size
        for j in range(buckets.size):
            memo.buckets[place, j] = buckets[j]


@kernel
def _words(data: NDArray[np.uint8], begin: np.int64, end: np.int64) -> tuple[np.uint64, np.uint64]:
    """The bytes of a token of up to 16 bytes in two numbers, zeros behind them."""
    length = end - begin
    low, high = load_word(data, np.uint64(begin)), np.uint64(0)
    if length < 8:
        low &= (np.uint64(1) << np.uint64(8 * length)) - np.uint64(1)
    elif length > 8:
        high = load_word(data, np.uint64(begin + 8))
        if length < _LONGEST:
            high &= (np.uint64(1) << np.uint64(8 * (length - 8))) - np.uint64(1)
    return low, high
