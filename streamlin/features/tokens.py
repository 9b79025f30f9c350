"""Writes tokens separated by single blanks, so that every n-gram of words is one range of bytes."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.characters import BLANK, CONTINUES, IN_TOKEN, OUTSIDE
from streamlin.kernel import kernel
from streamlin.kernel.byte_buffers import copy_bytes


@kernel
def write_tokens(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    ascii_table: NDArray[np.int16],
    unicode_table: NDArray[np.uint8],
    min_length: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of m pieces of text.

    data, lengths int64[m] : the UTF-8 of the pieces, concatenated and followed by PADDING. Where texts are to be
        lower-cased, it must be lower-cased except for ASCII letters.
    ascii_table int16[128], unicode_table uint8[0x110000] : see `characters.py`.
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
    written, edges = np.empty(data.size, np.uint8), np.empty(data.size + 1, np.int64)
    token_bytes[0] = BLANK
    starts[0] = 1
    end = count = int(np.int64(0))  # not 0, which is a type of its own: what is called would be compiled for both
    for piece in range(lengths.size):
        begin, end = end, end + int(lengths[piece])
        if _is_ascii(data, begin, end):
            n_edges = _find_edges(data, begin, end, ascii_table, written, edges)
            count = _write_ascii(written, edges[:n_edges], min_length, token_bytes, starts, count)
        else:
            count = _write_any(data, begin, end, ascii_table, unicode_table, min_length, token_bytes, starts, count)
        ends[piece] = count
    return token_bytes, starts, ends


@kernel
def _is_ascii(data: NDArray[np.uint8], begin: int, end: int) -> bool:
    bits = np.uint8(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        bits |= data[i]
    return bool(bits < 0x80)


@kernel
def _find_edges(
    data: NDArray[np.uint8],
    begin: int,
    end: int,
    ascii_table: NDArray[np.int16],
    written: NDArray[np.uint8],
    edges: NDArray[np.int64],
) -> int:
    """For ASCII, set `written[begin:end]` to the bytes to write and `edges` to where tokens begin and end, alternately.

    Returns the number of edges. Where a word ends is unpredictable, so there is no branch on it.
    """
    count, before = np.uint64(0), np.int64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        entry = ascii_table[data[i]]
        written[i] = np.uint8(entry & 0xFF)
        inside = np.int64(entry >= IN_TOKEN)
        edges[count] = i
        count += np.uint64(inside ^ before)
        before = inside
    edges[count] = end
    return int(count) + int(before)


@kernel
def _write_ascii(
    written: NDArray[np.uint8],
    edges: NDArray[np.int64],
    min_length: int,
    token_bytes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    count: int,
) -> int:
    """Append the tokens between edges to token_bytes and starts, which hold `count`; returns the new count."""
    for edge in range(0, edges.size, 2):
        begin, end = edges[edge], edges[edge + 1]
        if end - begin >= min_length:
            position = copy_bytes(written, begin, end, token_bytes, starts[count])
            token_bytes[position] = BLANK
            count += 1
            starts[count] = position + 1
    return count


@kernel
def _write_any(
    data: NDArray[np.uint8],
    i: int,
    end: int,
    ascii_table: NDArray[np.int16],
    unicode_table: NDArray[np.uint8],
    min_length: int,
    token_bytes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    count: int,
) -> int:
    """Append the tokens of `data[i:end]`, which may have any characters; see `_write_ascii`."""
    while i < end:
        position, length = starts[count], 0
        while i < end:
            code = data[i]
            if code < 0x80:
                i += 1
                written = ascii_table[code]
                if written < IN_TOKEN:
                    break
                token_bytes[position] = written & 0x7F
                position += 1
            else:
                width, code_point = decoded(data, i)
                i += width
                kind = unicode_table[code_point]
                if kind == OUTSIDE or (kind == CONTINUES and length == 0):
                    break
                for j in range(i - width, i):
                    token_bytes[position] = data[j]
                    position += 1
            length += 1
        if length >= min_length:
            token_bytes[position] = BLANK
            count += 1
            starts[count] = position + 1
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
