"""The character tables against `re` and `str`, for every code point."""

import re

import numpy as np
import pytest

from streamlin.features.characters import IN_TOKEN, ascii_characters, token_characters

EVERY = [chr(code_point) for code_point in range(0x110000)]


@pytest.mark.parametrize("tokens", ["words", "scikit-learn"])
def test_word_characters_equal_those_of_re(tokens: str) -> None:
    word = re.compile(r"\w").match
    assert token_characters(tokens).tolist() == [word(character) is not None for character in EVERY]


@pytest.mark.parametrize("tokens", ["whitespace", "char_wb"])
def test_white_space_equals_that_of_str_split(tokens: str) -> None:
    assert token_characters(tokens).tolist() == [bool(character.split()) for character in EVERY]


@pytest.mark.parametrize("lowercase", [True, False])
def test_ascii_table_has_the_bytes_to_write(lowercase: bool) -> None:
    table = ascii_characters("whitespace", lowercase)
    assert table[ord("A")] == IN_TOKEN + ord("a" if lowercase else "A")
    assert table[ord("[")] == IN_TOKEN + ord("[")
    assert table[0] == IN_TOKEN
    assert np.flatnonzero(table < IN_TOKEN).tolist() == [9, 10, 11, 12, 13, 28, 29, 30, 31, 32]
