"""The tokens of a text that taggers tag."""

import re
from collections.abc import Callable
from functools import cache, partial

from streamlin.config import Tokens
from streamlin.features.characters import mark_class


@cache
def _pattern(tokens: Tokens) -> re.Pattern[str]:
    """What a token is: as in a view, except that a sign which is in no word is a token of its own."""
    if tokens == "words":
        return re.compile(rf"\w[\w{mark_class()}]*|[^\w\s]")
    return re.compile(r"\w{2,}" if tokens == "scikit-learn" else r"\S+")


def cutter(tokens: Tokens) -> Callable[[str], tuple[list[str], list[tuple[int, int]]]]:
    """A function that returns the tokens of a text, and where each begins and ends in it, in characters."""
    return partial(_cut, _pattern(tokens))


def _cut(pattern: re.Pattern[str], text: str) -> tuple[list[str], list[tuple[int, int]]]:
    found = list(pattern.finditer(text))
    return [match.group() for match in found], [match.span() for match in found]
