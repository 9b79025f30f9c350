"""From UTF-8 text to tokens with one blank between them, so that every n-gram of words is one range of bytes."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.characters import BLANK, IN_TOKEN
from streamlin.kernel import kernel


@kernel
def write_tokens(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    ascii_table: NDArray[np.int16],
    table: NDArray[np.bool_],
    least: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of m pieces of text.

    data, lengths int64[m] : the pieces' UTF-8, one behind the other, then PADDING; lower-cased where it is to be, but
        ASCII letters need not be.
    ascii_table int16[128], table bool[0x110000] : see `characters.py`.
    least : tokens of fewer code points are left out.

    Returns
    -------
    octets : the tokens with a blank before and behind each, then PADDING.
    starts : token j is `octets[starts[j] : starts[j + 1] - 1]`.
    ends : int64[m], how many tokens the pieces up to this one have.
    """
    octets = np.empty(data.size + lengths.size + 1, np.uint8)  # data brings PADDING
    starts = np.empty((data.size + lengths.size) // 2 + 1, np.int64)
    ends = np.empty(lengths.size, np.int64)
    octets[0] = BLANK
    starts[0] = position = np.int64(1)
    i = end = count = np.int64(0)
    for piece in range(lengths.size):
        end += lengths[piece]
        while i < end:
            length = 0
            while i < end:
                code = data[i]
                if code < 0x80:
                    i += 1
                    written = ascii_table[code]
                    if written < IN_TOKEN:
                        break
                    octets[position] = written & 0x7F
                    position += 1
                else:
                    width, code_point = _decoded(data, i)
                    i += width
                    if not table[code_point]:
                        break
                    for j in range(i - width, i):
                        octets[position] = data[j]
                        position += 1
                length += 1
            if length >= least:
                octets[position] = BLANK
                position += 1
                count += 1
                starts[count] = position
            else:
                position = starts[count]
        ends[piece] = count
    return octets, starts, ends


@kernel
def _decoded(data: NDArray[np.uint8], i: np.int64) -> tuple[int, np.int64]:
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
    octets: NDArray[np.uint8], begin: np.int64, end: np.int64, bounds: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Where each character of `octets[begin:end]` begins, and `end`; in `bounds`, which is large enough."""
    count = 0
    for i in range(begin, end):
        if octets[i] & 0xC0 != 0x80:
            bounds[count] = i
            count += 1
    bounds[count] = end
    return bounds[: count + 1]
