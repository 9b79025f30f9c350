"""The kernels of `drain`: tokens of lines as hashes, and the most similar template of each line."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

MOST_TOKENS, MOST_BYTES = 100, 100
"""The tokens of a line that are read, and the bytes of one; longer ones vary."""
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
VARIES = np.uint64(0x70CC8C1830B5F0C7)
"""The hash of `<*>`."""
SKIPPED, KNOWN, WIDENED, NEW, NONE = range(5)
"""What became of a line: not read; has a template; has one that it has changed; brings one; has none."""


class Tables(NamedTuple):
    """The templates, as `match_lines` reads and changes them; arrays are longer than what is in use.

    tokens : uint64[m], the hashes of all templates' tokens. bounds : int64[t + 1], those of template i begin there.
    following : int32[t], the next template of the same length and first token; -1.
    slots : int32[a power of 2], the first template of each length and first token, by open addressing; -1.
    """

    tokens: NDArray[np.uint64]
    bounds: NDArray[np.int64]
    following: NDArray[np.int32]
    slots: NDArray[np.int32]


@kernel
def hash_tokens(data: NDArray[np.uint8], begin: int, end: int, found: NDArray[np.uint64], count: int) -> int:
    """Append the hashes of the tokens of data[begin:end] to the `count` of found uint64[MOST_TOKENS]; returns how many.

    FNV-1a, 64 bits. A token ends at ASCII white space; one with a digit, or of more than MOST_BYTES, varies.
    """
    i = begin
    while i < end and count < MOST_TOKENS:
        while i < end and _is_space(data[i]):
            i += 1
        first, h, varies = i, _BASIS, False
        while i < end and not _is_space(data[i]):
            h = (h ^ np.uint64(data[i])) * _PRIME
            varies |= 0x30 <= data[i] <= 0x39
            i += 1
        if i > first:
            found[count] = VARIES if varies or i - first > MOST_BYTES else h
            count += 1
    return count


@kernel
def _is_space(byte: np.uint8) -> bool:
    return bool(byte == 0x20 or 0x09 <= byte <= 0x0D)


@kernel
def match_lines(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    pieces: NDArray[np.int64],
    read: NDArray[np.bool_],
    learned: NDArray[np.bool_],
    similarity: float,
    most: int,
    tables: Tables,
    n_templates: int,
    found: NDArray[np.int32],
    what: NDArray[np.uint8],
) -> int:
    """Find the template of each of n lines, and let it learn the line; returns the number of templates by then.

    data, lengths : the UTF-8 of pieces of text; line i has those from pieces[i] to pieces[i + 1].
    read, learned : bool[n], which lines have a template, and which change them. most : templates there may be.
    tables : with room for n more templates, but for those beyond `most`.
    found : int32[n], set to the template, -1 for none. what : uint8[n], set as named above.
    """
    line, end = np.empty(MOST_TOKENS, np.uint64), 0
    for i in range(read.size):
        count = 0
        for piece in range(pieces[i], pieces[i + 1]):
            begin, end = end, end + lengths[piece]
            if read[i]:
                count = hash_tokens(data, begin, end, line, count)
        found[i], what[i] = -1, SKIPPED
        if not read[i]:
            continue
        slot = slot_of(line, count, tables)
        best, last, same = -1, -1, -1
        t = tables.slots[slot]
        while t >= 0 and same < count:
            begin = tables.bounds[t]
            equal = 0
            for j in range(count):
                equal += tables.tokens[begin + j] == line[j]
            if equal > same:  # of equally similar ones the first
                best, same = t, equal
            last, t = t, tables.following[t]
        if best >= 0 and (count == 0 or same / count >= similarity):
            found[i], what[i] = best, KNOWN
            if learned[i] and same < count:
                what[i] = widen(tables.tokens[tables.bounds[best] :], line, count)
        elif learned[i] and n_templates < most:
            found[i], what[i] = n_templates, NEW
            add(line, count, slot, last, tables, n_templates)
            n_templates += 1
        else:
            what[i] = NONE
    return n_templates


@kernel
def widen(tokens: NDArray[np.uint64], line: NDArray[np.uint64], count: int) -> int:
    """Let the tokens vary in which the line differs; returns what became of it."""
    what = KNOWN
    for j in range(count):
        if tokens[j] != line[j] and tokens[j] != VARIES:
            tokens[j] = VARIES
            what = WIDENED
    return what


@kernel
def add(line: NDArray[np.uint64], count: int, slot: int, last: int, tables: Tables, number: int) -> None:
    """Make a line template `number`, behind the `last` one of its slot; -1 if it is the first."""
    begin = tables.bounds[number]
    for j in range(count):
        tables.tokens[begin + j] = line[j]
    tables.bounds[number + 1] = begin + count
    tables.following[number] = -1
    if last >= 0:
        tables.following[last] = number
    else:
        tables.slots[slot] = number


@kernel
def slot_of(line: NDArray[np.uint64], count: int, tables: Tables) -> int:
    """The slot of a line's length and first token: that of its templates, or a free one."""
    first = line[0] if count else np.uint64(0)
    mask = tables.slots.size - 1
    slot = np.int64((first ^ (first >> np.uint64(29))) & np.uint64(mask))
    slot = (slot + count * 0x9E3779B1) & mask
    while tables.slots[slot] >= 0:
        t = tables.slots[slot]
        begin = tables.bounds[t]
        if tables.bounds[t + 1] - begin == count and (count == 0 or tables.tokens[begin] == first):
            break
        slot = (slot + 1) & mask
    return int(slot)


@kernel
def fill_tables(data: NDArray[np.uint8], ends: NDArray[np.int64], tables: Tables) -> None:
    """Add the templates whose texts end at ends int64[n] of `data`, in this order."""
    line, begin = np.empty(MOST_TOKENS, np.uint64), 0
    for number in range(ends.size):
        count = hash_tokens(data, begin, ends[number], line, 0)
        begin = ends[number]
        slot = slot_of(line, count, tables)
        last, t = -1, tables.slots[slot]
        while t >= 0:
            last, t = t, tables.following[t]
        add(line, count, slot, last, tables, number)
