"""The character tables against `re` and `str`, for every code point."""

import re
from unicodedata import category

import numpy as np
import pytest

from streamlin.config import Tokens
from streamlin.features.characters import BEGINS, CONTINUES, OUTSIDE, ascii_ranges, mark_class, token_characters

EVERY = [chr(code_point) for code_point in range(0x110000)]


@pytest.mark.parametrize("tokens", ["words", "scikit-learn"])
def test_word_characters_equal_those_of_re(tokens: str) -> None:
    word = re.compile(r"\w").match
    begins = token_characters(tokens) == BEGINS
    assert begins.tolist() == [word(character) is not None for character in EVERY]


def test_marks_and_joiners_continue_words() -> None:
    """All that Unicode's data has, and in no other kind of tokens."""
    continuing = [category(character)[0] == "M" or character in "\u200c\u200d" for character in EVERY]
    assert (token_characters("words") == CONTINUES).tolist() == continuing
    assert [bool(re.match(f"[{mark_class()}]", character)) for character in EVERY] == continuing
    assert not any(
        (token_characters(tokens) == CONTINUES).any() for tokens in ("scikit-learn", "whitespace", "char_wb")
    )


@pytest.mark.parametrize("tokens", ["whitespace", "char_wb"])
def test_white_space_equals_that_of_str_split(tokens: str) -> None:
    assert token_characters(tokens).tolist() == [bool(character.split()) for character in EVERY]


@pytest.mark.parametrize("tokens", ["words", "scikit-learn", "whitespace", "char_wb", "shape"])
@pytest.mark.parametrize("lowercase", [True, False])
def test_ascii_ranges_hold_the_characters_of_tokens(tokens: Tokens, lowercase: bool) -> None:
    ranges = ascii_ranges(tokens, lowercase).tolist()
    inside = [j for first, size in zip(ranges[:4], ranges[4:8], strict=True) for j in range(first, first + size)]
    assert inside == np.flatnonzero(token_characters(tokens)[:128] != OUTSIDE).tolist()
    assert ranges[8:] == [26 if lowercase else 0]
