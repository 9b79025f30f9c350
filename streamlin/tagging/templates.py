"""Features of tokens: templates over a token and its neighbours, hashed to buckets.

The templates are those of Ratnaparkhi, EMNLP 1996, table 1, with shapes and neighbours' suffixes; those of columns are
CRFsuite's for chunking (Okazaki, 2007), from the tutorial's `chunking.py`.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from streamlin.features.murmur3 import murmur3_32
from streamlin.kernel import kernel

WORD, LOWER, SUFFIX, PREFIX, SHAPE = 0, 1, 2, 6, 10
"""Columns of `parts`: hashes of the word, of it lower-cased, of its 1 to 4 last and first characters, of its shape."""
PARTS = 11
LEVELS = 6
"""Contexts of the hidden Markov model, from the most general to the word itself."""
N_WORDS, N_AROUND, N_COLUMN = 22, 12, 12
"""Templates of words, of words beside columns, and of each column."""
_OTHER, _LOWER, _UPPER, _DIGIT = range(4)
_OUTSIDE = np.uint32(0x9E3779B9)
"""Stands for a neighbour before the first or behind the last token."""


_ABSENT = np.uint32(0x7F4A7C15)
"""Stands for a prefix of more characters than the token has."""


@cache
def character_classes(size: int = 0x110000) -> NDArray[np.uint8]:
    """uint8[size]: whether each code point is a lower-case letter or one without case, upper-case, or a digit."""
    characters = np.arange(size, dtype=np.uint32).view("U1")
    table = np.where(np.strings.isalpha(characters), _LOWER, _OTHER).astype(np.uint8)
    table[np.strings.isupper(characters)] = _UPPER
    table[np.strings.isdecimal(characters)] = _DIGIT
    return table


def classes_for(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The classes of all code points that some UTF-8 may have; those of ASCII alone are there at once."""
    first = data.max(initial=0)
    return character_classes(0x80 if first < 0x80 else 0x800 if first < 0xE0 else 0x10000 if first < 0xF0 else 0x110000)


@kernel
def hash_parts(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    lowered: NDArray[np.uint8],
    lowered_lengths: NDArray[np.int64],
    classes: NDArray[np.uint8],
) -> NDArray[np.uint32]:
    """uint32[n, PARTS] for n tokens, whose UTF-8 is in `data` one after the other; `lowered` holds them lower-cased."""
    parts = np.empty((lengths.size, PARTS), np.uint32)
    at, lower_at = np.int64(0), np.int64(0)
    for i in range(lengths.size):
        begin, end = at, at + lengths[i]
        lower_end = lower_at + lowered_lengths[i]
        parts[i, WORD] = np.uint32(murmur3_32(data, begin, end))
        parts[i, LOWER] = np.uint32(murmur3_32(lowered, lower_at, lower_end))
        set_affixes(lowered, lower_at, lower_end, parts[i])
        parts[i, SHAPE] = shape_hash(data, begin, end, classes)
        at, lower_at = end, lower_end
    return parts


@kernel
def set_affixes(data: NDArray[np.uint8], begin: np.int64, end: np.int64, parts: NDArray[np.uint32]) -> None:
    """Set the hashes of affixes. A suffix longer than the token is the token itself, such a prefix is absent."""
    place = end
    for n in range(4):
        place -= place > begin
        while place > begin and data[place] & 0xC0 == 0x80:
            place -= 1
        parts[SUFFIX + n] = np.uint32(murmur3_32(data, np.int64(place), np.int64(end)))
    place = begin
    for n in range(4):
        is_there = place < end
        place += is_there
        while place < end and data[place] & 0xC0 == 0x80:
            place += 1
        parts[PREFIX + n] = np.uint32(murmur3_32(data, np.int64(begin), np.int64(place))) if is_there else _ABSENT


@kernel
def shape_hash(data: NDArray[np.uint8], begin: np.int64, end: np.int64, classes: NDArray[np.uint8]) -> np.uint32:
    """The hash of a token's shape: the class of each character, repeats once; other characters stand for themselves."""
    h, before, i = np.uint32(0x811C9DC5), np.uint32(0xFFFFFFFF), begin
    while i < end:
        code = np.uint32(data[i])
        i += 1
        if code >= 0xC0:
            code = code & np.uint32(0x1F if code < 0xE0 else 0x0F if code < 0xF0 else 0x07)
            while i < end and data[i] & 0xC0 == 0x80:
                code = (code << np.uint32(6)) | np.uint32(data[i] & 0x3F)
                i += 1
        kind = np.uint32(classes[min(code, np.uint32(0x10FFFF))])
        symbol = kind if kind != _OTHER else code + np.uint32(4)
        if symbol != before:
            h = np.uint32((h ^ symbol) * np.uint32(0x01000193))
            h = np.uint32(h ^ (h >> np.uint32(15)))
            before = symbol
    return h


@kernel
def bucket(template: int, a: np.uint32, b: np.uint32, bits: int) -> np.int32:
    """The bucket of a template's feature that consists of two hashes; the finalizer of splitmix64."""
    h = np.uint64(a) | (np.uint64(b) << np.uint64(32))
    h += np.uint64(template) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int32((h ^ (h >> np.uint64(31))) & np.uint64((1 << bits) - 1))


@kernel
def neighbour(parts: NDArray[np.uint32], part: int, i: int, begin: int, end: int) -> np.uint32:
    """A part of token i if it is one of the sentence's tokens, `begin` to `end`."""
    return parts[i, part] if begin <= i < end else _OUTSIDE


@kernel
def word_buckets(
    parts: NDArray[np.uint32], ends: NDArray[np.int64], bits: int, first: int, buckets: NDArray[np.int32]
) -> None:
    """Set buckets[:, first : first + N_WORDS] to the templates of words. ends int64[n + 1]: bounds of sentences."""
    none = np.uint32(0)
    for sentence in range(ends.size - 1):
        begin, end = ends[sentence], ends[sentence + 1]
        for i in range(begin, end):
            own, out = parts[i], buckets[i]
            for part in range(PARTS):
                out[first + part] = bucket(part, own[part], none, bits)
            before, after = neighbour(parts, WORD, i - 1, begin, end), neighbour(parts, WORD, i + 1, begin, end)
            out[first + 11] = bucket(11, before, none, bits)
            out[first + 12] = bucket(12, after, none, bits)
            out[first + 13] = bucket(13, neighbour(parts, WORD, i - 2, begin, end), none, bits)
            out[first + 14] = bucket(14, neighbour(parts, WORD, i + 2, begin, end), none, bits)
            out[first + 15] = bucket(15, before, own[WORD], bits)
            out[first + 16] = bucket(16, own[WORD], after, bits)
            out[first + 17] = bucket(17, neighbour(parts, SUFFIX + 2, i - 1, begin, end), none, bits)
            out[first + 18] = bucket(18, neighbour(parts, SUFFIX + 2, i + 1, begin, end), none, bits)
            out[first + 19] = bucket(19, neighbour(parts, SHAPE, i - 1, begin, end), own[SHAPE], bits)
            out[first + 20] = bucket(20, own[SHAPE], neighbour(parts, SHAPE, i + 1, begin, end), bits)
            out[first + 21] = bucket(21, none, none, bits)


@kernel
def around_buckets(
    parts: NDArray[np.uint32], ends: NDArray[np.int64], bits: int, first: int, buckets: NDArray[np.int32]
) -> None:
    """Set buckets[:, first : first + N_AROUND]: five words around a token, two pairs, the bias, parts of the word."""
    none = np.uint32(0)
    for sentence in range(ends.size - 1):
        begin, end = ends[sentence], ends[sentence + 1]
        for i in range(begin, end):
            for k in range(5):
                buckets[i, first + k] = bucket(32 + k, neighbour(parts, WORD, i + k - 2, begin, end), none, bits)
            own = parts[i, WORD]
            buckets[i, first + 5] = bucket(37, neighbour(parts, WORD, i - 1, begin, end), own, bits)
            buckets[i, first + 6] = bucket(38, own, neighbour(parts, WORD, i + 1, begin, end), bits)
            buckets[i, first + 7] = bucket(39, none, none, bits)
            buckets[i, first + 8] = bucket(40, parts[i, LOWER], none, bits)
            buckets[i, first + 9] = bucket(41, parts[i, SUFFIX + 1], none, bits)
            buckets[i, first + 10] = bucket(42, parts[i, SUFFIX + 2], none, bits)
            buckets[i, first + 11] = bucket(43, parts[i, SHAPE], none, bits)


@kernel
def column_buckets(
    hashes: NDArray[np.uint32], ends: NDArray[np.int64], number: int, bits: int, first: int, buckets: NDArray[np.int32]
) -> None:
    """Set buckets[:, first : first + N_COLUMN]: a column's values around a token, their pairs and triples.

    hashes uint32[n, 1]: of each token's value. number : of the column.
    """
    none, base = np.uint32(0), 64 + 16 * number
    window = np.empty(5, np.uint32)
    for sentence in range(ends.size - 1):
        begin, end = ends[sentence], ends[sentence + 1]
        for i in range(begin, end):
            for k in range(5):
                window[k] = neighbour(hashes, 0, i + k - 2, begin, end)
                buckets[i, first + k] = bucket(base + k, window[k], none, bits)
            for k in range(4):
                buckets[i, first + 5 + k] = bucket(base + 5 + k, window[k], window[k + 1], bits)
            for k in range(3):
                pair = np.uint32(window[k] * np.uint32(0x85EBCA6B) + window[k + 1])
                buckets[i, first + 9 + k] = bucket(base + 9 + k, pair, window[k + 2], bits)


@kernel
def context_buckets(
    parts: NDArray[np.uint32], columns: NDArray[np.uint32], bits: int, buckets: NDArray[np.int32]
) -> None:
    """Set buckets int32[n, LEVELS]: the word's shape; with it the last one to four characters; the word.

    columns uint32[n], a hash of the token's further columns, 0 without any: each context includes them.
    """
    for i in range(parts.shape[0]):
        shape = np.uint32(parts[i, SHAPE] ^ columns[i])
        buckets[i, 0] = bucket(24, shape, np.uint32(0), bits)
        for n in range(4):
            buckets[i, 1 + n] = bucket(25 + n, shape, parts[i, SUFFIX + n], bits)
        buckets[i, 5] = bucket(29, parts[i, WORD], columns[i], bits)
