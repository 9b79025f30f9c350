"""Which characters are part of a token: a table of all there are, from the running Python's own Unicode data."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from streamlin.config import Tokens

BLANK = 0x20
IN_TOKEN = 256
"""The bit of `ascii_characters` that says that the character is part of a token."""


@cache
def token_characters(tokens: Tokens) -> NDArray[np.bool_]:
    r"""bool[0x110000]: whether a code point is part of a token.

    For "words" and "scikit-learn" that is what `\w` matches: letters, digits and the underscore of all scripts; for
    "whitespace" and "char_wb" everything at which `str.split` does not split.
    """
    characters = np.arange(0x110000, dtype=np.uint32).view("U1")
    if tokens in ("whitespace", "char_wb"):
        return ~np.strings.isspace(characters)
    table = np.strings.isalnum(characters)
    table[ord("_")] = True
    return table


@cache
def ascii_characters(tokens: Tokens, lowercase: bool) -> NDArray[np.int16]:
    """int16[128]: the byte to write for each ASCII character that is part of a token, plus IN_TOKEN; else 0."""
    written = [ord(chr(i).lower()) if lowercase else i for i in range(128)]
    return np.where(token_characters(tokens)[:128], np.array(written) + IN_TOKEN, 0).astype(np.int16)
