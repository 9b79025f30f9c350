"""Masks: each UUID, address, hexadecimal number and number is replaced by one word for its kind."""

import re
from collections.abc import Collection, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from streamlin.config import Mask, Tokens
from streamlin.features.characters import mark_class

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUPS = "[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*"
_IPV6 = (
    "(?=[0-9a-f]{0,4}:)"  # fails fast on other words
    "(?=[a-f:]*[0-9])"  # otherwise C++'s `dead::beef` would match
    rf"(?:(?:[0-9a-f]{{1,4}}:){{7}}[0-9a-f]{{1,4}}|(?:{_GROUPS})?::(?:(?:{_GROUPS}:)?{_IPV4}|{_GROUPS})?)(?:%\w+)?"
)
_WORD = r"\w"


@cache
def _expressions(word: str) -> dict[Mask, re.Pattern[str]]:
    """In the order in which they are applied. word : the word characters, as in the brackets of an expression."""
    expressions: dict[Mask, str] = {
        "uuid": rf"(?<![{word}])[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}(?![{word}])",
        "ip": (
            rf"(?<![{word}.])(?:{_IPV4}(?::[0-9]{{1,5}})?(?![{word}]|\.[{word}])"
            rf"|\[{_IPV6}\]:[0-9]{{1,5}}(?![{word}])"
            rf"|(?<!:){_IPV6}(?![{word}:]|\.[{word}]))"
        ),
        "hex": rf"(?<![{word}])(?:0x[0-9a-f]++|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{{8,}}+)(?![{word}])",
        "number": rf"(?<![{word}])[+-]?\d++(?:[.,]\d++)*+(?:e[+-]?\d++)?+(?![{word}])",
    }
    return {mask: re.compile(expression, re.IGNORECASE) for mask, expression in expressions.items()}


def _marked(tokens: Tokens) -> dict[Mask, re.Pattern[str]]:
    """The expressions for texts that are not ASCII, where marks and joiners are word characters if tokens say so."""
    return _expressions(rf"\w{mark_class()}" if tokens == "words" else _WORD)


def masked(texts: Sequence[str], masks: Collection[Mask], tokens: Tokens = "words") -> Sequence[str]:
    r"""The texts with `__uuid__`, `__ip__`, `__hex__` and `__number__` in place of what `masks` lists.

    A match must not be next to a word character: the 2 of `log2` and the 5 of `5ms` stay. For "words" these include
    marks, so that a mask is a token of its own.

    uuid : 8-4-4-4-12 hexadecimal digits.
    ip : IPv4 and IPv6 addresses, with port (`[…]:port`) and `%zone`.
    hex : `0x…`, or eight or more hexadecimal digits with at least one letter and one digit.
    number : digits of any script, with sign, decimals, thousands separators and exponent; `2.10.1` is one number,
        a date three.
    """
    if not masks:
        return texts
    plain = _expressions(_WORD)
    marked = plain if "".join(texts).isascii() else _marked(tokens)
    for mask, expression in plain.items():
        if mask in masks:
            of_ascii, of_others, word = expression.sub, marked[mask].sub, f"__{mask}__"
            texts = [of_ascii(word, text) if text.isascii() else of_others(word, text) for text in texts]
    return texts


def masked_with_origins(
    text: str, origins: NDArray[np.int64], masks: Collection[Mask], tokens: Tokens = "words"
) -> tuple[str, NDArray[np.int64]]:
    """As `masked`, for one text; also returns the span int64[n, 2] in the original text of each character.

    origins : int64[n, 2], the spans of the characters given. All characters of a mask have the span of the text that
        it replaces.
    """
    expressions = _expressions(_WORD) if text.isascii() else _marked(tokens)
    for mask, expression in expressions.items():
        if mask in masks:
            word, end = f"__{mask}__", 0
            texts, rows = [], []
            for match in expression.finditer(text):
                whole = [origins[match.start(), 0], origins[match.end() - 1, 1]]
                texts += [text[end : match.start()], word]
                rows += [origins[end : match.start()], np.tile(whole, (len(word), 1))]
                end = match.end()
            text, origins = "".join([*texts, text[end:]]), np.concatenate([*rows, origins[end:]])
    return text, origins
