"""Batches of texts, or of named values, to buckets and their values."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features.ngrams import FREE, add, add_ngrams, bucket_of
from streamlin.features.tokens import character_offsets, write_tokens
from streamlin.features.murmur3 import PADDING
from streamlin.kernel import kernel


class Buckets(NamedTuple):
    """Features of n events; in each by order of first occurrence, one entry a bucket.

    indptr : int64[n + 1]; event i has entries `indptr[i]` to `indptr[i + 1]`.
    buckets : int32[nnz], in [0, 2^bits).
    values : float32[nnz].
    """

    indptr: NDArray[np.int64]
    buckets: NDArray[np.int32]
    values: NDArray[np.float32]


@kernel
def hash_texts(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    pieces: NDArray[np.int64],
    names: NDArray[np.uint8],
    name_lengths: NDArray[np.int64],
    ascii_table: NDArray[np.int16],
    table: NDArray[np.bool_],
    least: int,
    characters: bool,
    gap: int,
    shortest: int,
    longest: int,
    repeat: float,
    logarithm: bool,
    bits: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The `Buckets` of n events.

    data, lengths int64[m] : m pieces of UTF-8 text one behind the other; event i has pieces `pieces[i]` to
        `pieces[i + 1]`.
    names, name_lengths int64[n * k] : the k categories of each event likewise; of length 0 where there is none.
    ascii_table, table, least : see `write_tokens`.
    characters : n-grams of the characters of each token, a blank on both sides; else of the tokens of a piece.
    repeat : what an n-gram adds to a bucket that has an entry already, 0 or 1.
    logarithm : whether the values are log(1 + count).
    """
    n = pieces.size - 1
    k = name_lengths.size // max(n, 1)
    octets, starts, offsets = _scratch(lengths)
    keys, places = np.empty(256, np.int32), np.empty(256, np.int32)
    indptr = np.zeros(n + 1, np.int64)
    buckets, values = np.empty(32 * n, np.int32), np.empty(32 * n, np.float32)
    last = text_end = name_end = np.int64(0)
    for i in range(n):
        first = last
        most = _most_entries(lengths[pieces[i] : pieces[i + 1]], characters, longest - shortest + 1, k, bits)
        if last + most > values.size:
            buckets, values = _grown(buckets, last, most), _grown(values, last, most)
        used = _slots_for(most, bits)
        if used > keys.size:
            keys, places = np.empty(used, np.int32), np.empty(used, np.int32)
        free = keys[:used]
        free[:] = FREE
        for piece in range(pieces[i], pieces[i + 1]):
            begin, text_end = text_end, text_end + lengths[piece]
            count = write_tokens(data, begin, text_end, ascii_table, table, least, octets, starts)
            for token in range(count if characters else min(count, 1)):
                units, size, smallest = starts, count, shortest
                if characters:
                    units, size = offsets, character_offsets(octets, starts[token] - 1, starts[token + 1], offsets)
                    smallest = min(shortest, size)
                last = add_ngrams(
                    octets, units, size, gap, smallest, longest, bits, repeat, free, places, last, buckets, values
                )
        for name in range(i * k, (i + 1) * k):
            begin, name_end = name_end, name_end + name_lengths[name]
            if begin < name_end:
                last = add(bucket_of(names, begin, name_end, bits), 1.0, repeat, free, places, last, buckets, values)
        if logarithm:
            for entry in range(first, last):
                values[entry] = math.log(1.0 + values[entry])
        indptr[i + 1] = last
    return indptr, buckets, values


@kernel
def hash_named(
    names: NDArray[np.uint8],
    name_lengths: NDArray[np.int64],
    given: NDArray[np.float32],
    sizes: NDArray[np.int64],
    bits: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The `Buckets` of n mappings: mapping i has the next `sizes[i]` names, and values other than 0."""
    indptr = np.zeros(sizes.size + 1, np.int64)
    buckets, values = np.empty(given.size, np.int32), np.empty(given.size, np.float32)
    last = name = end = np.int64(0)
    for i in range(sizes.size):
        first = last
        keys = np.full(_slots_for(sizes[i], bits), FREE, np.int32)
        places = np.empty_like(keys)
        for j in range(name, name + sizes[i]):
            begin, end = end, end + name_lengths[j]
            if given[j] != 0.0:
                bucket = bucket_of(names, begin, end, bits)
                last = add(bucket, given[j], given[j], keys, places, last, buckets, values)
        name += sizes[i]
        indptr[i + 1] = last
    return indptr, buckets, values


@kernel
def _most_entries(lengths: NDArray[np.int64], characters: bool, orders: int, others: int, bits: int) -> int:
    """An upper bound of the entries that pieces of these `lengths` in bytes, and `others` more features, can have.

    l bytes are at most (l + 1) / 2 tokens, and 2l + 1 characters with the blanks on both sides of each token.
    """
    units = 0
    for length in lengths:
        units += 2 * length + 1 if characters else (length + 1) // 2
    return min(units * orders + others, 1 << bits)


@kernel
def _slots_for(entries: int, bits: int) -> int:
    """A power of two with room for twice as many entries, or one for every bucket."""
    size = 2
    while size < 2 * entries and size < 1 << bits:
        size *= 2
    return size


@kernel
def _scratch(lengths: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Room for the tokens of the longest piece, where each starts, and the offsets of the characters of one."""
    longest = 0
    for length in lengths:
        longest = max(longest, length)
    return (
        np.empty(longest + 2 + PADDING, np.uint8),
        np.empty(longest // 2 + 2, np.int64),
        np.empty(longest + 3, np.int64),
    )


@kernel
def _grown(array: NDArray[np.int32], used: int, more: int) -> NDArray[np.int32]:
    """A copy with at least `more` items of room behind the `used` ones, and twice the size."""
    grown = np.empty(max(2 * array.size, used + more), array.dtype)
    for i in range(used):
        grown[i] = array[i]
    return grown
