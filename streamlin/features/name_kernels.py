"""Kernels that find n-grams without a name and store their names.

Hashes that have a name are kept in a table of open addressing with linear probing (Knuth, TAOCP 3, 6.4, algorithm L).
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.murmur3 import murmur3_32
from streamlin.features.tokens import character_bounds
from streamlin.kernel import kernel

LONGEST = 64
"""The maximum bytes of a name; a longer one is cut and ends in `…`."""
_CUT = np.frombuffer("…".encode(), np.uint8)


@kernel
def key_of(hashed: np.int32) -> np.int32:
    """The key of a hash in the table. 0 marks a free slot, so the hash 0 shares the key 1."""
    return hashed if hashed != 0 else np.int32(1)


@kernel
def slot_of(key: np.int32, slots: NDArray[np.int32]) -> np.int64:
    """The slot that holds a key, or where it is to be inserted; the number of slots is a power of two."""
    slot = np.int64(key) & (slots.size - 1)
    while slots[slot] != 0 and slots[slot] != key:
        slot = (slot + 1) & (slots.size - 1)
    return slot


@kernel
def fill_slots(hashes: NDArray[np.int32], slots: NDArray[np.int32]) -> None:
    """Insert all hashes; all slots must be free, and more than twice as many as hashes."""
    for i in range(hashes.size):
        key = key_of(hashes[i])
        slots[slot_of(key, slots)] = key


@kernel
def note_rows(
    row: int,
    sources: NDArray[np.int64],
    learned: NDArray[np.bool_],
    rows_after: NDArray[np.int64],
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    token_ends: NDArray[np.int64],
    pieces: NDArray[np.int64],
    named: NDArray[np.uint8],
    name_ends: NDArray[np.int64],
    characters: int,
    shortest: int,
    longest: int,
    bits: int,
    row_of: NDArray[np.int32],
    limit: int,
    slots: NDArray[np.int32],
    hashes: NDArray[np.int32],
    ends: NDArray[np.int64],
    names: NDArray[np.uint8],
    count: int,
) -> tuple[int, int]:
    """Store the names that the rows from `row` on bring.

    Returns the row at which the space was used up, n at the end, and the new number of names.

    sources, learned, rows_after [n] : the event of each row, whether it is learned, the number of feature rows then.
    data, starts : tokens, see `write_units`. token_ends : int64[m + 1], the number of tokens before each piece.
    pieces, named : `pieces` and `names` of `hash_texts`. name_ends : 0, then where each of these names ends.
    slots, hashes, ends, names : see `Names`; changed in place. count : the number of names, at most `limit`.
    """
    k = (name_ends.size - 1) // max(pieces.size - 1, 1)
    bounds = np.empty(data.size if characters else 0, np.int64)
    for at in range(row, sources.size):
        if not learned[at]:
            continue
        event, n_rows = sources[at], rows_after[at]
        for piece in range(pieces[event], pieces[event + 1]):
            first, last = token_ends[piece], token_ends[piece + 1]
            if not characters:
                of_tokens = starts[first : last + 1]
                count = note_ngrams(
                    data,
                    of_tokens,
                    1,
                    shortest,
                    longest,
                    bits,
                    row_of,
                    n_rows,
                    limit,
                    slots,
                    hashes,
                    ends,
                    names,
                    count,
                )
                if count < 0:
                    return at, ~count
                continue
            for token in range(first, last):
                inside = character_bounds(data, starts[token] - 1, starts[token + 1], bounds)
                least = min(shortest, inside.size - 1)
                count = note_ngrams(
                    data, inside, 0, least, longest, bits, row_of, n_rows, limit, slots, hashes, ends, names, count
                )
                if count < 0:
                    return at, ~count
        for name in range(event * k, (event + 1) * k):
            whole = name_ends[name : name + 2]
            if whole[0] < whole[1]:
                count = note_ngrams(
                    named, whole, 0, 1, 1, bits, row_of, n_rows, limit, slots, hashes, ends, names, count
                )
                if count < 0:
                    return at, ~count
    return sources.size, count


@kernel
def note_ngrams(
    data: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    gap: int,
    shortest: int,
    longest: int,
    bits: int,
    row_of: NDArray[np.int32],
    n_rows: int,
    limit: int,
    slots: NDArray[np.int32],
    hashes: NDArray[np.int32],
    ends: NDArray[np.int64],
    names: NDArray[np.uint8],
    count: int,
) -> int:
    """Store the names of those n-grams of some units (see `append_ngrams`) that have no name yet.

    An n-gram's bucket must have one of the first n_rows rows. Returns the new number of names; where the space was used
    up, its bitwise complement.
    """
    size = bounds.size - 1
    for unit in range(size):
        for n in range(shortest, min(longest, size - unit) + 1):
            end = bounds[unit + n] - gap
            hashed = murmur3_32(data, bounds[unit], end)
            slot = slot_of(key_of(hashed), slots)
            if slots[slot] != 0 or not 0 <= row_of[abs(np.int64(hashed)) & ((1 << bits) - 1)] < n_rows:
                continue
            if count >= limit:
                return count
            at = ends[count - 1] if count > 0 else np.int64(0)
            if count == hashes.size or names.size - at < LONGEST:
                return ~count
            slots[slot], hashes[count] = key_of(hashed), hashed
            ends[count] = write_name(data, bounds[unit], end, names, at)
            count += 1
    return count


@kernel
def write_name(
    data: NDArray[np.uint8], begin: np.int64, end: np.int64, names: NDArray[np.uint8], at: np.int64
) -> np.int64:
    """Copy `data[begin:end]`, or its beginning and `…`, to `names[at:]`; returns where the name ends."""
    length = end - begin
    if length > LONGEST:
        length = np.int64(LONGEST - _CUT.size)
        while data[begin + length] & 0xC0 == 0x80:  # inside a character
            length -= 1
    for j in range(length):
        names[at + j] = data[begin + j]
    at += length
    if length < end - begin:
        for j in range(_CUT.size):
            names[at + j] = _CUT[j]
        at += _CUT.size
    return at
