"""Masks: UUIDs, addresses, hexadecimal and numbers become one word each, whatever they say."""

import re
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.config import Mask

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUPS = "[0-9a-f]{1,4}(?::[0-9a-f]{1,4})*"
_IPV6 = (
    "(?=[0-9a-f]{0,4}:)"  # fails fast at every other word
    "(?=[a-f:]*[0-9])"  # without it C++'s `dead::beef` would be one
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
"""In the order in which they are applied: each leaves to the next what it does not know."""


def masked(texts: Sequence[str], masks: Collection[Mask]) -> Sequence[str]:
    r"""The texts with `__uuid__`, `__ip__`, `__hex__` and `__number__` for what `masks` names.

    Only what no word character touches is masked: the 2 of `log2` and the 5 of `5ms` stay.

    uuid : 8-4-4-4-12 hexadecimal digits.
    ip : IPv4 and IPv6 (`[…]:port` too, and `%zone`), the port with it.
    hex : `0x…`, or eight and more hexadecimal digits, a letter and a digit among them.
    number : digits of any script, with sign, decimals, thousands and exponent; `2.10.1` is one, a date three.
    """
    for mask, expression in _EXPRESSIONS.items():
        if mask in masks:
            replace = re.compile(expression, re.IGNORECASE).sub
            texts = [replace(f"__{mask}__", text) for text in texts]
    return texts


def masked_with_origins(
    text: str, origins: NDArray[np.int64], masks: Collection[Mask]
) -> tuple[str, NDArray[np.int64]]:
    """The same of one text, and the origins of its characters, given those int64[n, 2] from before.

    A mask's characters all have that of what it stands for, from its first one's beginning to its last one's end.
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
