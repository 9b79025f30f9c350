"""The features of a text that are no n-grams, as texts, with the tokens that they are of; see `forms.py`."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from streamlin.features.characters import DIGIT, LOWER, UPPER, token_characters
from streamlin.features.forms import FIRST, HEAD, LARGEST_GAP, MOST_FIRST, MOST_HEAD, SKIP
from streamlin.features.shapes import MOST_TOKENS

Located = tuple[str, tuple[int, ...]]
"""A feature, and the indexes of its tokens; none, where it is of the whole text."""
_SIGNS = {UPPER: "X", LOWER: "x", DIGIT: "d"}
_RUN = re.compile(r"(.)\1+", re.DOTALL)


def form_features(tokens: Sequence[str], form: int) -> Iterator[Located]:
    """The features of a piece of text with these tokens, at least one, in the order of the kernel."""
    if form == FIRST:
        return _first(tokens)
    if form == HEAD:
        return ((f"<{token}", (i,)) for i, token in enumerate(tokens[:MOST_HEAD]))
    return _pairs(tokens[:MOST_TOKENS]) if form == SKIP else _shapes(tokens)


def _first(tokens: Sequence[str]) -> Iterator[Located]:
    n = len(tokens)
    for i, token in enumerate(tokens[:MOST_FIRST]):
        yield f"{min(i, 3)}:{token}", (i,)
    for more in range(1, min(n, 3)):
        yield "^" * more + " ".join(tokens[: more + 1]), tuple(range(more + 1))
    for more in range(1, min(n, 2) + 1):
        yield "$" * more + " ".join(tokens[n - more :]), tuple(range(n - more, n))


def _pairs(tokens: Sequence[str]) -> Iterator[Located]:
    for i, token in enumerate(tokens):
        for j in range(i + 2, min(len(tokens), i + LARGEST_GAP + 1)):
            yield f"{token} _{tokens[j]}", (i, j)


def _shapes(tokens: Sequence[str]) -> Iterator[Located]:
    written = ["".join(_signs(token)) for token in tokens]
    shapes = [_RUN.sub(r"\1+", signs) for signs in written[:MOST_TOKENS]]
    n = len(shapes)
    yield from ((shape, (i,)) for i, shape in enumerate(shapes))
    yield from ((f"{one} {other}", (i, i + 1)) for i, (one, other) in enumerate(pairwise(shapes)))
    yield f"^{' '.join(shapes[:2])}", tuple(range(min(n, 2)))
    yield f"${shapes[-1]}", (n - 1,)
    kinds = token_characters("shape")
    codes = [int(kinds[ord(character)]) for token in tokens for character in token]
    yield f"n={_half_octave(len(tokens))}", ()
    yield f"c={_half_octave(len(codes))}", ()
    capitals, digits = codes.count(UPPER), codes.count(DIGIT)
    for sign, number in (("X", capitals), ("d", digits), (".", len(codes) - capitals - digits - codes.count(LOWER))):
        yield f"{sign}%{20 * number // len(codes)}", ()
        yield f"{sign}#{number.bit_length()}", ()


def _signs(token: str) -> Iterator[str]:
    kinds = token_characters("shape")
    return (_SIGNS.get(int(kinds[ord(character)]), character) for character in token)


def _half_octave(number: int) -> int:
    """2 log2(number), rounded down."""
    return (number * number).bit_length() - 1
