"""Masks: each UUID, address, hexadecimal number and number is replaced by one word for its kind."""

import re
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.config import Mask

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUPS = "[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*"
_IPV6 = (
    "(?=[0-9a-f]{0,4}:)"  # fails fast on other words
    "(?=[a-f:]*[0-9])"  # otherwise C++'s `dead::beef` would match
    rf"(?:(?:[0-9a-f]{{1,4}}:){{7}}[0-9a-f]{{1,4}}|(?:{_GROUPS})?::(?:(?:{_GROUPS}:)?{_IPV4}|{_GROUPS})?)(?:%\w+)?"
)

_EXPRESSIONS: dict[Mask, str] = {
    "uuid": r"(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)",
    "ip": (
        rf"(?<![\w.])(?:{_IPV4}(?::[0-9]{{1,5}})?(?!\w|\.\w)"
        rf"|\[{_IPV6}\]:[0-9]{{1,5}}(?!\w)"
        rf"|(?<!:){_IPV6}(?![\w:]|\.\w))"
    ),
    "hex": r"(?<!\w)(?:0x[0-9a-f]++|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,}+)(?!\w)",
    "number": r"(?<!\w)[+-]?\d++(?:[.,]\d++)*+(?:e[+-]?\d++)?+(?!\w)",
}
"""In the order in which they are applied."""


def masked(texts: Sequence[str], masks: Collection[Mask]) -> Sequence[str]:
    r"""The texts with `__uuid__`, `__ip__`, `__hex__` and `__number__` in place of what `masks` lists.

    A match must not be next to a word character: the 2 of `log2` and the 5 of `5ms` stay.

    uuid : 8-4-4-4-12 hexadecimal digits.
    ip : IPv4 and IPv6 addresses, with port (`[…]:port`) and `%zone`.
    hex : `0x…`, or eight or more hexadecimal digits with at least one letter and one digit.
    number : digits of any script, with sign, decimals, thousands separators and exponent; `2.10.1` is one number,
        a date three.
    """
    for mask, expression in _EXPRESSIONS.items():
        if mask in masks:
            replace = re.compile(expression, re.IGNORECASE).sub
            texts = [replace(f"__{mask}__", text) for text in texts]
    return texts


def masked_with_origins(
    text: str, origins: NDArray[np.int64], masks: Collection[Mask]
) -> tuple[str, NDArray[np.int64]]:
    """As `masked`, for one text; also returns the span int64[n, 2] in the original text of each character.

    origins : int64[n, 2], the spans of the characters given. All characters of a mask have the span of the text that
        it replaces.
    """
    for mask, expression in _EXPRESSIONS.items():
        if mask in masks:
            word, end = f"__{mask}__", 0
            texts, rows = [], []
            for match in re.finditer(expression, text, re.IGNORECASE):
                whole = [origins[match.start(), 0], origins[match.end() - 1, 1]]
                texts += [text[end : match.start()], word]
                rows += [origins[end : match.start()], np.tile(whole, (len(word), 1))]
                end = match.end()
            text, origins = "".join([*texts, text[end:]]), np.concatenate([*rows, origins[end:]])
    return text, origins
