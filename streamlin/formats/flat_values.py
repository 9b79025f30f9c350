"""What becomes of the values that `flat_json` has found: texts behind each other, numbers, codes of equal ones."""

import numpy as np
from numpy.typing import NDArray

from streamlin.formats.flat_json import BACKSLASH, ESCAPED, MINUS, MISSING, POINT, ZERO, escape
from streamlin.kernel import kernel
from streamlin.kernel.byte_buffers import PADDING, copy_bytes

_WHOLE_DIGITS, _EXACT_DIGITS = 18, 15
"""Of a whole number in 63 bits; of one that a float64 holds, as it does the powers of ten up to this."""


@kernel
def copy_values(
    data: NDArray[np.uint8],
    begins: NDArray[np.int64],
    stops: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    out: NDArray[np.uint8],
    bounds: NDArray[np.int64],
) -> None:
    """Copy n values to `out`, one behind the other, and set `bounds` int64[n + 1]; escapes become what they stand for.

    begins, stops, kinds : of one field, as `find_fields` sets them. out : has room for their bytes as they
        stand, and PADDING.
    """
    end = 0
    bounds[0] = 0
    for i in range(kinds.size):
        at, stop = (begins[i], stops[i]) if kinds[i] != MISSING else (0, 0)
        if kinds[i] == ESCAPED or stop + PADDING > data.size:
            end = _unescaped(data, at, stop, out, end)
        else:
            end = copy_bytes(data, at, stop, out, end)
        bounds[i + 1] = end


@kernel
def _unescaped(data: NDArray[np.uint8], at: int, stop: int, out: NDArray[np.uint8], end: int) -> int:
    """Write the text `data[at:stop]` to `out[end:]`; returns where it ends."""
    while at < stop:
        if data[at] != BACKSLASH:
            out[end] = data[at]
            at += 1
            end += 1
            continue
        width, code = escape(data, at, stop)
        at += width
        if code < 0x80:
            out[end] = code
            end += 1
            continue
        more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
        out[end] = ((0xFF << (7 - more)) & 0xFF) | (code >> 6 * more)
        for j in range(1, more + 1):
            out[end + j] = 0x80 | ((code >> 6 * (more - j)) & 0x3F)
        end += more + 1
    return end


@kernel
def numbers(
    data: NDArray[np.uint8],
    begins: NDArray[np.int64],
    stops: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    found: NDArray[np.float64],
) -> bool:
    """Set found [n] to the numbers of a field, where it is not missing; False if one has too many digits to be exact.

    The others are the nearest to what is written: digits and the power of ten are exact, so only their quotient is
    rounded (Clinger, How to read floating point numbers accurately, 1990).
    """
    for i in range(kinds.size):
        if kinds[i] == MISSING:
            continue
        is_negative, digits, scale, n_digits = data[begins[i]] == MINUS, 0, 1.0, 0
        is_behind_point = False
        for at in range(begins[i] + is_negative, stops[i]):
            if data[at] == POINT:
                is_behind_point = True
                continue
            digits = digits * 10 + int(data[at]) - ZERO
            n_digits += 1
            if is_behind_point:
                scale *= 10.0
            if n_digits > (_EXACT_DIGITS if is_behind_point else _WHOLE_DIGITS):
                return False
        found[i] = -(digits / scale) if is_negative else digits / scale
    return True


@kernel
def distinct_values(
    data: NDArray[np.uint8],
    begins: NDArray[np.int64],
    stops: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    slots: NDArray[np.int32],
    codes: NDArray[np.int32],
    firsts: NDArray[np.int64],
) -> int:
    """Number the n values of a field by first appearance; missing and empty ones have the code -1.

    begins, stops, kinds : see `copy_values`. slots : a power of two above n, all -1. codes [n] : set. firsts [n] : the
    event of each distinct value is set. Returns their number.
    """
    count, mask = 0, slots.size - 1
    for i in range(kinds.size):
        codes[i] = -1
        if kinds[i] == MISSING or begins[i] == stops[i]:
            continue
        slot = _hash(data, begins[i], stops[i]) & mask
        while slots[slot] >= 0 and not _same(data, begins, stops, firsts[slots[slot]], i):
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot], firsts[count] = count, i
            count += 1
        codes[i] = slots[slot]
    return count


@kernel
def _hash(data: NDArray[np.uint8], begin: int, stop: int) -> int:
    """FNV-1a, 32 bits: Fowler, Noll, Vo, http://www.isthe.com/chongo/tech/comp/fnv/."""
    found = np.uint32(2166136261)
    for at in range(np.uint64(begin), np.uint64(stop)):
        found = np.uint32((found ^ np.uint32(data[at])) * np.uint32(16777619))
    return int(found)


@kernel
def _same(data: NDArray[np.uint8], begins: NDArray[np.int64], stops: NDArray[np.int64], one: int, other: int) -> bool:
    """Whether two values are the same."""
    if stops[one] - begins[one] != stops[other] - begins[other]:
        return False
    to = np.uint64(begins[other])
    for at in range(np.uint64(begins[one]), np.uint64(stops[one])):
        if data[at] != data[to]:
            return False
        to += np.uint64(1)
    return True
