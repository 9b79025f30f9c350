"""Features that are no n-grams: where a token stands, pairs with a gap, how tokens are written.

Each is written as a token of its own, so that hashing and names see a piece of text with other tokens. Which tokens
they are of is in `form_features.py`.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.characters import BLANK
from streamlin.features.shapes import MOST_TOKENS, NUMBERS, write_shapes
from streamlin.features.tokens import write_tokens
from streamlin.features.written import close, write_range
from streamlin.kernel import kernel
from streamlin.kernel.byte_buffers import copy_bytes

TOKENS, CHARACTERS, FIRST, HEAD, SKIP, SHAPE = range(6)
"""What the features of a view are made of: n-grams of tokens or of characters, or one of the forms below."""
FORMS = {"char_wb": CHARACTERS, "first": FIRST, "head": HEAD, "skip": SKIP, "shape": SHAPE}
"""By `tokens` of a view; the others have n-grams of tokens."""
MOST_FIRST, MOST_HEAD, LARGEST_GAP = 6, 20, 4
"""How many tokens `first` and `head` read of a piece of text, and how far apart those are that `skip` pairs."""
FURTHER = NUMBERS + 2
"""At most so many features of a piece of text are neither of a token nor of a pair that begins with it."""

Tokens = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]
"""Bytes, starts and ends; see `write_tokens`."""


@kernel
def write_units(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    ascii_ranges: NDArray[np.uint8],
    unicode_table: NDArray[np.uint8],
    min_length: int,
    form: int | None,
) -> Tokens:
    """What n-grams are formed of: tokens, or the features of a form in their place; see `write_tokens`."""
    tokens = write_tokens(data, lengths, ascii_ranges, unicode_table, min_length)
    return write_form(tokens, unicode_table, form)


@kernel
def write_form(tokens: Tokens, unicode_table: NDArray[np.uint8], form: int | None) -> Tokens:
    """The features of a form, as tokens; `tokens` itself for None, with which nothing of the rest is compiled.

    first : `0:a 1:b 2:c 3:d 3:e 3:f`, `^a b`, `^^a b c`, `$z`, `$$y z`. head : `<a` of the first 20.
    skip : `a _c` of tokens 2 to 4 apart. shape : see `write_shapes`. Both read the first 400 tokens.
    """
    if form is None:
        return tokens
    token_bytes, starts, ends = tokens
    n_tokens = int(ends[-1]) if ends.size else 0
    out = np.empty(6 * (starts[n_tokens] + n_tokens) + 16 * FURTHER * ends.size + 8, np.uint8)
    out_starts = np.empty(3 * n_tokens + FURTHER * ends.size + 1, np.int64)
    out_ends = np.empty(ends.size, np.int64)
    out[0] = BLANK
    out_starts[0] = 1
    count = after = int(np.int64(0))
    for piece in range(ends.size):
        first, after = after, int(ends[piece])
        own = starts[first : after + 1]
        if form == FIRST:
            count = _write_first(token_bytes, own, out, out_starts, count)
        elif form == HEAD:
            for j in range(min(after - first, MOST_HEAD)):
                count = write_range(ord("<"), 1, token_bytes, own[j], own[j + 1] - 1, out, out_starts, count)
        elif form == SKIP:
            count = _write_pairs(token_bytes, own, out, out_starts, count)
        elif after > first:
            count = write_shapes(token_bytes, own, unicode_table, out, out_starts, count)
        out_ends[piece] = count
    return out, out_starts, out_ends


@kernel
def _write_first(
    data: NDArray[np.uint8], own: NDArray[np.int64], out: NDArray[np.uint8], starts: NDArray[np.int64], count: int
) -> int:
    """The first six tokens with their places, and the first and last two and three; own : where tokens start."""
    n = own.size - 1
    for j in range(min(n, MOST_FIRST)):
        at = starts[count]
        out[at], out[at + 1] = ord("0") + min(j, 3), ord(":")
        count = close(out, starts, copy_bytes(data, own[j], own[j + 1] - 1, out, at + 2), count)
    for more in range(1, min(n, 3)):
        count = write_range(ord("^"), more, data, own[0], own[more + 1] - 1, out, starts, count)
    for more in range(1, min(n, 2) + 1):
        count = write_range(ord("$"), more, data, own[n - more], own[n] - 1, out, starts, count)
    return count


@kernel
def _write_pairs(
    data: NDArray[np.uint8], own: NDArray[np.int64], out: NDArray[np.uint8], starts: NDArray[np.int64], count: int
) -> int:
    """The pairs of tokens that are two to four apart, whatever the gap."""
    n = min(own.size - 1, MOST_TOKENS)
    for j in range(n):
        for other in range(j + 2, min(n, j + LARGEST_GAP + 1)):
            at = copy_bytes(data, own[j], own[j + 1], out, starts[count])  # with the blank behind it
            out[at] = ord("_")
            at = copy_bytes(data, own[other], own[other + 1] - 1, out, at + 1)
            count = close(out, starts, at, count)
    return count
