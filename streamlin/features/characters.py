"""Which characters belong to tokens: tables built from the running Python's Unicode data.

The constants are compiled into every `@kernel` that uses them.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from streamlin.config import Tokens

BLANK = 0x20
IN_TOKEN = 256
"""The bit of `ascii_characters` that is set where the character belongs to a token."""


@cache
def token_characters(tokens: Tokens) -> NDArray[np.bool_]:
    r"""bool[0x110000]: whether each code point belongs to a token.

    For "words" and "scikit-learn" these are the characters that `\w` matches: letters and digits of all scripts, and
    the underscore. For "whitespace" and "char_wb" it is every character that `str.split` does not split at.
    """
    characters = np.arange(0x110000, dtype=np.uint32).view("U1")
    if tokens in ("whitespace", "char_wb"):
        return ~np.strings.isspace(characters)
    table = np.strings.isalnum(characters)
    table[ord("_")] = True
    return table


@cache
def ascii_characters(tokens: Tokens, lowercase: bool) -> NDArray[np.int16]:
    """int16[128]: for each ASCII character in a token the byte to write, plus IN_TOKEN; for others 0."""
    written = [ord(chr(i).lower()) if lowercase else i for i in range(128)]
    return np.where(token_characters(tokens)[:128], np.array(written) + IN_TOKEN, 0).astype(np.int16)
