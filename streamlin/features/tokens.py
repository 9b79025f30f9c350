"""Finds the tokens of texts, and writes them separated by single blanks, so that every n-gram is one range of bytes."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.characters import BLANK, CONTINUES, OUTSIDE
from streamlin.kernel import kernel
from streamlin.kernel.blocks import BLOCK, ones, trailing_zeros, write_block
from streamlin.kernel.byte_buffers import copy_bytes
from streamlin.kernel.words import load_word, store_word

AT_ONCE = 4
"""So many edges are written at once, whether or not there are as many."""


@kernel
def write_tokens(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    ascii_ranges: NDArray[np.uint8],
    unicode_table: NDArray[np.uint8],
    min_length: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of m pieces of text, one behind the other.

    data, lengths int64[m] : the UTF-8 of the pieces, concatenated and followed by PADDING. Where texts are to be
        lower-cased, those that are not ASCII must be lower-cased.
    ascii_ranges uint8[9], unicode_table uint8[0x110000] : see `characters.py`.
    min_length : tokens of fewer code points are left out.

    Returns
    -------
    token_bytes : the tokens with a blank before and after each, then PADDING.
    starts : token j is `token_bytes[starts[j] : starts[j + 1] - 1]`.
    ends : int64[m], the number of tokens in the pieces up to and including each.
    """
    token_bytes = np.empty(data.size + lengths.size + 1, np.uint8)  # data includes PADDING
    starts = np.empty((data.size + lengths.size) // 2 + 1, np.int64)
    ends = np.empty(lengths.size, np.int64)
    written, edges = np.empty(data.size + 1, np.uint8), np.empty(data.size + 1, np.int64)
    token_bytes[0] = BLANK
    starts[0] = 1
    end = count = int(np.int64(0))  # not 0, which is a type of its own: what is called would be compiled for both
    for piece in range(lengths.size):
        begin, end = end, end + int(lengths[piece])
        n_edges = find_tokens(data, begin, end, ascii_ranges, unicode_table, min_length, written, edges)
        count = join_tokens(written, edges, n_edges, min_length, token_bytes, starts, count)
        ends[piece] = count
    return token_bytes, starts, ends


@kernel
def find_tokens(
    data: NDArray[np.uint8],
    begin: int,
    end: int,
    ascii_ranges: NDArray[np.uint8],
    unicode_table: NDArray[np.uint8],
    min_length: int,
    written: NDArray[np.uint8],
    edges: NDArray[np.int64],
) -> np.int64:
    """Set token j of `data[begin:end]` to `written[edges[2j] : edges[2j + 1]]`; returns the number of edges.

    Tokens of fewer bytes than `min_length` may be among them. written uint8[end - begin + PADDING], edges
    int64[end - begin + PADDING]; the others as of `write_tokens`.
    """
    if _is_ascii(data, begin, end):
        return _find_edges(data, begin, end, ascii_ranges, written, edges)
    return _find_any(data, begin, end, unicode_table, min_length, written, edges)


@kernel
def _is_ascii(data: NDArray[np.uint8], begin: int, end: int) -> bool:
    i, stop, bits = np.uint64(begin), np.uint64(end), np.uint64(0)
    while i + np.uint64(8) <= stop:
        bits |= load_word(data, i)
        i += np.uint64(8)
    rest = (np.uint64(1) << np.uint64(8) * (stop - i)) - np.uint64(1)
    bits |= load_word(data, i) & rest
    return bool(bits & np.uint64(0x8080808080808080) == np.uint64(0))


@kernel
def _find_edges(
    data: NDArray[np.uint8],
    begin: int,
    end: int,
    ascii_ranges: NDArray[np.uint8],
    written: NDArray[np.uint8],
    edges: NDArray[np.int64],
) -> np.int64:
    """For ASCII, set `written` to `data[begin:end]`, and `edges` to where tokens begin and end there, alternately.

    Returns the number of edges. 64 bytes become the bits of one number, then its edges are taken from below. How many
    there are is unpredictable, so there are some more in vain, which the next ones replace.
    """
    zero, one = np.uint64(0), np.uint64(1)
    size, count, before = np.uint64(end - begin), np.uint64(0), np.uint64(0)
    at = zero
    while at < size:
        inside = write_block(data, np.uint64(begin) + at, ascii_ranges, written, at)
        if size - at < np.uint64(BLOCK):
            inside &= (one << (size - at)) - one
        found = inside ^ (inside << one | before)
        before = inside >> np.uint64(BLOCK - 1)
        n_found, edge = ones(found), count
        while found != zero:
            for _ in range(AT_ONCE):
                edges[edge] = np.int64(at + trailing_zeros(found))
                found &= found - one
                edge += one
        count += n_found
        at += np.uint64(BLOCK)
    edges[count] = np.int64(size)
    return np.int64(count + before)


@kernel
def join_tokens(
    written: NDArray[np.uint8],
    edges: NDArray[np.int64],
    n_edges: np.int64,
    min_length: int,
    token_bytes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    count: int,
) -> int:
    """Append the tokens between edges to token_bytes and starts, which hold `count`; returns the new count."""
    for edge in range(0, n_edges, 2):
        begin, end = edges[edge], edges[edge + 1]
        if end - begin >= min_length:
            position = copy_bytes(written, begin, end, token_bytes, starts[count])
            token_bytes[position] = BLANK
            count += 1
            starts[count] = position + 1
    return count


@kernel
def _find_any(
    data: NDArray[np.uint8],
    i: int,
    end: int,
    unicode_table: NDArray[np.uint8],
    min_length: int,
    written: NDArray[np.uint8],
    edges: NDArray[np.int64],
) -> np.int64:
    """What `find_tokens` does with `data[i:end]`, which may have any characters."""
    begin, count = i, np.int64(0)
    while i < end:
        edges[count], length = i - begin, 0
        while i < end:
            width, code_point = (1, np.int64(data[i])) if data[i] < 0x80 else decoded(data, i)
            kind = unicode_table[code_point]
            if kind == OUTSIDE or (kind == CONTINUES and length == 0):
                break
            store_word(written, np.uint64(i - begin), load_word(data, np.uint64(i)))
            i += width
            length += 1
        edges[count + 1] = i - begin
        i += width  # what the token ended at
        count += 2 * (length >= min_length)
    return count


@kernel
def decoded(data: NDArray[np.uint8], i: int) -> tuple[int, np.int64]:
    """Width in bytes and code point of the character at byte i, which is not ASCII."""
    lead, second = np.int64(data[i]), np.int64(data[i + 1]) & 0x3F
    if lead < 0xE0:
        return 2, (lead & 0x1F) << 6 | second
    third = np.int64(data[i + 2]) & 0x3F
    if lead < 0xF0:
        return 3, (lead & 0x0F) << 12 | second << 6 | third
    return 4, (lead & 0x07) << 18 | second << 12 | third << 6 | np.int64(data[i + 3]) & 0x3F


@kernel
def character_bounds(
    data: NDArray[np.uint8], begin: np.int64, end: np.int64, bounds: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Where each character of `data[begin:end]` begins, and `end`; written to `bounds`, which must be large enough."""
    count = 0
    for i in range(begin, end):
        if data[i] & 0xC0 != 0x80:
            bounds[count] = i
            count += 1
    bounds[count] = end
    return bounds[: count + 1]
