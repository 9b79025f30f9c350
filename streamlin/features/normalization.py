"""Brings texts to Unicode's form NFKC and drops characters that can't be seen.

Unicode Standard Annex 15. Letters that look alike, such as full-width and ligature forms, become the same letter.
"""

import re
import sys
from functools import cache
from itertools import pairwise
from unicodedata import category, combining, decomposition, normalize

import numpy as np
from numpy.typing import NDArray

_SELECTORS = "\u034f\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""The combining grapheme joiner and variation selectors, which are marks without a shape."""
_HANGUL_VOWELS_AND_FINALS = range(0x1161, 0x11C3)


def normalized(text: str) -> str:
    """The text without format characters (Cf: zero width, soft hyphen, direction) and variation selectors, in NFKC."""
    return text if text.isascii() else normalize("NFKC", without_invisible(text))


def without_invisible(text: str) -> str:
    """The text without format characters and variation selectors."""
    return text if text.isascii() else _invisible().sub("", text)


def normalized_with_origins(text: str) -> tuple[str, NDArray[np.int64]]:
    """As `normalized`, for one text; also returns the span int64[n, 2] in the original text of each character.

    Characters that are composed or decomposed together have the span of them all.
    """
    kept = [i for i, character in enumerate(text) if not _invisible().match(character)]
    begins = [j for j, i in enumerate(kept) if j == 0 or not _continues(text[i])]
    pieces, spans, lengths = [], [], []
    for begin, end in pairwise([*begins, len(kept)]):
        piece = normalize("NFKC", "".join(text[i] for i in kept[begin:end]))
        pieces.append(piece)
        spans.append((kept[begin], kept[end - 1] + 1))
        lengths.append(len(piece))
    return "".join(pieces), np.repeat(np.array(spans, np.int64).reshape(-1, 2), lengths, axis=0)


@cache
def _invisible() -> re.Pattern[str]:
    return re.compile(f"[{_SELECTORS}{''.join(c for c in map(chr, range(sys.maxunicode + 1)) if category(c) == 'Cf')}]")


def _continues(character: str) -> bool:
    """Whether NFKC may combine a character with the one before it."""
    first = normalize("NFKD", character)[0]
    return combining(first) > 0 or first in _second_characters()


@cache
def _second_characters() -> frozenset[str]:
    """The second characters of all pairs that Unicode composes."""
    pairs = (decomposition(chr(i)).split() for i in range(sys.maxunicode + 1))
    seconds = {chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and not pair[0].startswith("<")}
    return frozenset(seconds | set(map(chr, _HANGUL_VOWELS_AND_FINALS)))
