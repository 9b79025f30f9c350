"""How tokens are written, without their letters: `Xx+`, `d+`; and the shares of capitals, digits and other signs."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.characters import BEGINS, DIGIT, LOWER, UPPER
from streamlin.features.tokens import decoded
from streamlin.features.written import close, write_range
from streamlin.kernel import kernel

MOST_TOKENS = 400
"""The shapes of so many tokens are features."""
NUMBERS = 8
"""Features of the whole text."""
_SIGNS = np.zeros(1 + max(BEGINS, UPPER, LOWER, DIGIT), np.uint8)
"""By the kind of a character: what is written instead; 0: itself."""
_SIGNS[[UPPER, LOWER, DIGIT]] = np.frombuffer(b"Xxd", np.uint8)


@kernel
def write_shapes(
    data: NDArray[np.uint8],
    own: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    out: NDArray[np.uint8],
    starts: NDArray[np.int64],
    count: int,
) -> int:
    """Append the features of a piece of text with tokens that start at `own`; returns the new count.

    A shape has X, x and d for letters and digits, and a run as its first sign and `+`. Features are the shapes of the
    first 400 tokens, the pairs of neighbours, `^` with the first two, `$` with the last. Of the whole piece: `n=` and
    `c=`, twice the logarithm to base 2 of the numbers of tokens and characters; for capitals X, digits d and other
    signs `.` the share in steps of 5 %, `X%3` for 15 to 20 %, and the bit length of the number, `X#2` for 2 or 3.

    kinds : `token_characters("shape")`. out, starts : see `write_range`.
    """
    n, first, counts = own.size - 1, count, np.zeros(_SIGNS.size, np.int64)
    for j in range(n):
        at = _write_shape(data, own[j], own[j + 1] - 1, kinds, out, starts[count], counts)
        if j < MOST_TOKENS:
            count = close(out, starts, at, count)
    last = count - 1
    for j in range(first, last):
        count = write_range(0, 0, out, starts[j], starts[j + 2] - 1, out, starts, count)
    count = write_range(ord("^"), 1, out, starts[first], starts[min(first + 1, last) + 1] - 1, out, starts, count)
    count = write_range(ord("$"), 1, out, starts[last], starts[last + 1] - 1, out, starts, count)
    characters = 0
    for kind in range(counts.size):
        characters += counts[kind]
    count = _write_number(ord("n"), ord("="), _bit_length(n * n) - 1, out, starts, count)
    count = _write_number(ord("c"), ord("="), _bit_length(characters * characters) - 1, out, starts, count)
    for sign, kind in ((ord("X"), UPPER), (ord("d"), DIGIT), (ord("."), BEGINS)):
        count = _write_number(sign, ord("%"), 20 * counts[kind] // characters, out, starts, count)
        count = _write_number(sign, ord("#"), _bit_length(counts[kind]), out, starts, count)
    return count


@kernel
def _write_shape(
    data: NDArray[np.uint8],
    begin: int,
    end: int,
    kinds: NDArray[np.uint8],
    out: NDArray[np.uint8],
    at: int,
    counts: NDArray[np.int64],
) -> int:
    """Write the shape of the token `data[begin:end]` to `out[at:]`, count its characters by kind; returns its end."""
    i, last, repeats = begin, np.int64(-1), 0
    while i < end:
        width, code = decoded(data, i) if data[i] >= 0x80 else (1, np.int64(data[i]))
        kind = kinds[code]
        counts[kind] += 1
        sign = np.int64(_SIGNS[kind]) if _SIGNS[kind] else code
        if sign == last:
            repeats += 1
            if repeats == 1:
                out[at] = ord("+")
                at += 1
        else:
            last, repeats = sign, 0
            for byte in range(1 if _SIGNS[kind] else width):
                out[at] = _SIGNS[kind] if _SIGNS[kind] else data[i + byte]
                at += 1
        i += width
    return at


@kernel
def _write_number(
    what: int, sign: int, number: int, out: NDArray[np.uint8], starts: NDArray[np.int64], count: int
) -> int:
    """Append two signs and a number below 100 as one feature; returns the new count."""
    at = starts[count]
    out[at], out[at + 1] = what, sign
    at += 2
    if number >= 10:
        out[at] = ord("0") + number // 10
        at += 1
    out[at] = ord("0") + number % 10
    return close(out, starts, at + 1, count)


@kernel
def _bit_length(number: int) -> int:
    bits = 0
    while number > 0:
        number >>= 1
        bits += 1
    return bits
