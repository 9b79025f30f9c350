"""Which characters belong to tokens: tables built from the running Python's Unicode data.

The constants are compiled into every `@kernel` that uses them.
"""

from functools import cache
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from streamlin.config import Tokens
from streamlin.kernel.blocks import RANGES

BLANK = 0x20
OUTSIDE, BEGINS, CONTINUES = 0, 1, 2
"""The values of `token_characters`."""
UPPER, LOWER, DIGIT = 3, 4, 5
"""Its further values for "shape"."""

_JOINERS = (0x200C, 0x200D)
_MARK_RANGES = ((0x300, 0x20000), (0xE0100, 0xE01F0))
"""Unicode has no marks elsewhere."""


@cache
def marks() -> NDArray[np.int64]:
    """The code points that belong to a word, but don't begin one: marks (Mn, Mc, Me), ZWNJ and ZWJ.

    Unicode Standard Annex 29, rule WB4.
    """
    candidates = np.concatenate([np.arange(*bounds, dtype=np.uint32) for bounds in _MARK_RANGES])
    candidates = candidates[~np.strings.isalnum(candidates.view("U1"))]
    found = [i for i in candidates.tolist() if i in _JOINERS or category(chr(i))[0] == "M"]
    return np.array(found, np.int64)


@cache
def mark_class() -> str:
    """The marks and joiners as they are written inside the brackets of a regular expression."""
    runs = np.split(marks(), np.flatnonzero(np.diff(marks()) > 1) + 1)
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


@cache
def token_characters(tokens: Tokens) -> NDArray[np.uint8]:
    r"""uint8[0x110000]: whether each code point belongs to a token.

    BEGINS : it does. For "words" and "scikit-learn" these are the characters that `\w` matches: letters and digits of
        all scripts, and the underscore. For the others it is every character that `str.split` does not split at.
    CONTINUES : it does if the token has begun. For "words" these are `marks`.
    UPPER, LOWER, DIGIT : it does, for "shape": capitals and title case, other letters and marks, digits.
    """
    table = _without_marks(tokens, 0x110000)
    if tokens in ("words", "shape"):
        table[marks()] = CONTINUES if tokens == "words" else LOWER
    return table


def _without_marks(tokens: Tokens, end: int) -> NDArray[np.uint8]:
    """The table up to a code point, but for marks, which are all beyond ASCII."""
    characters = np.arange(end, dtype=np.uint32).view("U1")
    if tokens not in ("words", "scikit-learn"):
        table = (~np.strings.isspace(characters)).astype(np.uint8)
        if tokens == "shape":
            table[np.strings.isalpha(characters)] = LOWER
            table[np.strings.isupper(characters) | np.strings.istitle(characters)] = UPPER
            table[np.strings.isdigit(characters)] = DIGIT
        return table
    table = np.strings.isalnum(characters).astype(np.uint8)
    table[ord("_")] = BEGINS
    return table


@cache
def ascii_ranges(tokens: Tokens, lowercase: bool) -> NDArray[np.uint8]:
    """uint8[9]: where up to four ranges of ASCII that belong to tokens begin, then their sizes; those not used have 0.

    The last is how many letters from A on are written in lower case: 26 or 0.
    """
    inside = np.concatenate([[False], _without_marks(tokens, 128) != OUTSIDE, [False]])
    begins, ends = np.flatnonzero(np.diff(inside.astype(np.int8))).reshape(-1, 2).T
    ranges = np.zeros(2 * RANGES + 1, np.uint8)
    ranges[: begins.size], ranges[RANGES : RANGES + begins.size] = begins, ends - begins
    ranges[2 * RANGES] = 26 if lowercase else 0
    return ranges
