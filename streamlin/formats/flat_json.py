"""Finds the fields of flat JSON objects in their bytes, without an object of Python for any of them.

A record is flat if its values are texts, numbers, true, false or null. Whatever is rare or doubtful is left to the
decoder that reads any JSON: nested values, an equal key again, exponents, half of a surrogate pair, errors.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.words import load_word

MISSING, TEXT, ESCAPED, NUMBER, DECIMAL, OTHER = range(6)
"""Kinds of values: missing or null; a text without and with escapes; a whole number, and one with a point; others."""
INVALID = -1
COMMA, END = 0x2C, 0x5D
_QUOTE, BACKSLASH, _COLON, _BLANK, _TAB = 0x22, 0x5C, 0x3A, 0x20, 0x09
MINUS, POINT, ZERO, _U = 0x2D, 0x2E, 0x30, 0x75
_MOST_DIGITS = 19
"""Of a whole number that any decoder reads as one."""
_ESCAPES = np.array([*zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True)], np.uint8)
"""Letter of an escape, and the character it stands for."""
_ONES, _TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_QUOTES, _BACKSLASHES, _CONTROLS = _ONES * np.uint64(_QUOTE), _ONES * np.uint64(BACKSLASH), _ONES * np.uint64(0xE0)


@kernel
def find_fields(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    keys: NDArray[np.uint8],
    key_bounds: NDArray[np.int64],
    begins: NDArray[np.int64],
    stops: NDArray[np.int64],
    kinds: NDArray[np.uint8],
) -> bool:
    """Find F fields in n records; False if a record is not flat.

    data : UTF-8; record i is `data[starts[i]:ends[i]]`, begins with `{` and ends with `}`.
    keys, key_bounds int64[F + 1] : the UTF-8 of field f's key is `keys[key_bounds[f]:key_bounds[f + 1]]`.
    begins, stops int64[F, n], kinds [F, n] : set to where each value stands, a text without its quotes.
    """
    n_fields = key_bounds.size - 1
    for i in range(starts.size):
        for field in range(n_fields):
            kinds[field, i] = MISSING
        last = ends[i] - 1
        at = behind_blanks(data, starts[i] + 1, last)
        while at < last:
            field, begin = member(data, at, last, keys, key_bounds)
            if begin < 0:
                return False
            kind, begin, stop, after = value(data, begin, last)
            at = next_member(data, after, last)
            if kind == INVALID or at < 0:
                return False
            if field >= 0:
                if kinds[field, i] != MISSING or kind == OTHER:
                    return False
                begins[field, i], stops[field, i], kinds[field, i] = begin, stop, kind
    return True


@kernel
def member(
    data: NDArray[np.uint8], at: int, last: int, keys: NDArray[np.uint8], key_bounds: NDArray[np.int64]
) -> tuple[int, int]:
    """The field whose key begins at `at`, -1 for another key, and where its value begins; -1 if no value follows."""
    key_end = _special(data, at + 1, last)
    if data[at] != _QUOTE or data[key_end] != _QUOTE:
        return -1, -1
    colon = behind_blanks(data, key_end + 1, last)
    begin = behind_blanks(data, colon + 1, last)
    if data[colon] != _COLON or begin >= last:
        return -1, -1
    return _field_of(data, at + 1, key_end, keys, key_bounds), begin


@kernel
def next_member(data: NDArray[np.uint8], after: int, last: int) -> int:
    """Where the next key begins, behind a value that ends at `after`: `last` if none does, -1 if it should."""
    at = behind_blanks(data, after, last)
    if at == last:
        return last
    behind = behind_blanks(data, at + 1, last)
    return behind if data[at] == COMMA and behind < last else -1


@kernel
def behind_blanks(data: NDArray[np.uint8], at: int, last: int) -> int:
    """The first place from `at` on that is no blank or tab, at most `last`."""
    while at < last and (data[at] == _BLANK or data[at] == _TAB):
        at += 1
    return min(at, last)


@kernel
def _field_of(
    data: NDArray[np.uint8], begin: int, end: int, keys: NDArray[np.uint8], key_bounds: NDArray[np.int64]
) -> int:
    """The field whose key is `data[begin:end]`; -1 if it is none."""
    for field in range(key_bounds.size - 1):
        first, same = key_bounds[field], end - begin == key_bounds[field + 1] - key_bounds[field]
        at = begin
        while same and at < end:
            same = data[at] == keys[first + at - begin]
            at += 1
        if same:
            return field
    return -1


@kernel
def _special(data: NDArray[np.uint8], at: int, last: int) -> int:
    """The first quote, backslash or control character from `at` on; `last` if there is none before.

    Eight bytes at a time: the top bit of each byte of `found` says whether it is one. Only the lowest such bit is used,
    which is right, as carries of the subtractions go up.
    """
    while at + 8 <= last:
        word = load_word(data, np.uint64(at))
        quote, backslash, control = word ^ _QUOTES, word ^ _BACKSLASHES, word & _CONTROLS
        found = ((quote - _ONES) & ~quote) | ((backslash - _ONES) & ~backslash) | ((control - _ONES) & ~control)
        found &= _TOPS
        if found:
            below = (found & (~found + np.uint64(1))) - np.uint64(1)  # eight ones for each byte before, and seven
            return at + int(((below & _ONES) * _ONES) >> np.uint64(56)) - 1
        at += 8
    while at < last and data[at] >= _BLANK and data[at] != _QUOTE and data[at] != BACKSLASH:
        at += 1
    return at


@kernel
def value(data: NDArray[np.uint8], begin: int, last: int) -> tuple[int, int, int, int]:
    """The kind of the value that begins at `begin` < `last`; where its content begins and ends; where it ends.

    It may be one of a list.
    """
    if data[begin] != _QUOTE:
        stop = begin
        while stop < last and data[stop] != COMMA and data[stop] != END and data[stop] != _BLANK and data[stop] != _TAB:
            stop += 1
        return _kind_of(data, begin, stop), begin, stop, stop
    kind, stop = TEXT, _special(data, begin + 1, last)
    while data[stop] == BACKSLASH:
        width, _ = escape(data, stop, last)
        if width == 0:
            return INVALID, begin, stop, stop
        kind, stop = ESCAPED, _special(data, stop + width, last)
    return kind if data[stop] == _QUOTE else INVALID, begin + 1, stop, min(stop + 1, last)


@kernel
def _kind_of(data: NDArray[np.uint8], begin: int, stop: int) -> int:
    """The kind of a value that is no text."""
    size = stop - begin
    if size == 4 and data[begin] == 0x6E and data[begin + 1] == 0x75 and data[begin + 2] == data[begin + 3] == 0x6C:
        return MISSING
    if size == 4 and data[begin] == 0x74 and data[begin + 1] == 0x72 and data[begin + 2] == 0x75:
        return OTHER if data[begin + 3] == 0x65 else INVALID
    if size == 5 and data[begin] == 0x66 and data[begin + 1] == 0x61 and data[begin + 2] == 0x6C:
        return OTHER if data[begin + 3] == 0x73 and data[begin + 4] == 0x65 else INVALID
    at = begin + (data[begin] == MINUS)
    whole = _digits(data, at, stop)
    if whole == 0 or (whole > 1 and data[at] == ZERO) or whole > _MOST_DIGITS - (at - begin):
        return INVALID
    if at + whole == stop:
        return OTHER if size == 2 and data[begin] == MINUS and data[at] == ZERO else NUMBER
    behind = at + whole + 1
    decimals = _digits(data, behind, stop)
    return DECIMAL if data[at + whole] == POINT and decimals > 0 and behind + decimals == stop else INVALID


@kernel
def _digits(data: NDArray[np.uint8], begin: int, stop: int) -> int:
    """The number of digits from `begin` on."""
    at = begin
    while at < stop and data[at] >= ZERO and data[at] < ZERO + 10:
        at += 1
    return at - begin


@kernel
def escape(data: NDArray[np.uint8], at: int, last: int) -> tuple[int, int]:
    """The width of the escape whose backslash is at `at`, and the code point it stands for; width 0 if it is none."""
    if at + 1 >= last:
        return 0, 0
    byte = int(data[at + 1])
    if byte == _U:
        unit = _unit(data, at, last)
        if unit < 0xD800 or unit > 0xDFFF:
            return (6, unit) if unit >= 0 else (0, 0)
        low = _unit(data, at + 6, last)
        if unit > 0xDBFF or low < 0xDC00 or low > 0xDFFF:
            return 0, 0
        return 12, 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00
    for letter in range(_ESCAPES.shape[0]):
        if byte == _ESCAPES[letter, 0]:
            return 2, int(_ESCAPES[letter, 1])
    return 0, 0


@kernel
def _unit(data: NDArray[np.uint8], at: int, last: int) -> int:
    r"""The number in `\uXXXX`; -1 if that does not stand at `at`."""
    if at + 6 > last or data[at] != BACKSLASH or data[at + 1] != _U:
        return -1
    unit = 0
    for j in range(at + 2, at + 6):
        byte = int(data[j])
        if ZERO <= byte < ZERO + 10:
            unit = unit * 16 + byte - ZERO
        elif 0x61 <= byte | 0x20 <= 0x66:
            unit = unit * 16 + (byte | 0x20) - 0x61 + 10
        else:
            return -1
    return unit
