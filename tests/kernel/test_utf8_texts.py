"""Texts as one buffer behave as the list of them."""

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlin.kernel.byte_buffers import PADDING, Utf8Texts, encode_texts, is_ascii

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
plain = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\'), max_size=9)


def utf8_texts(texts: list[str], plain: bool = False) -> Utf8Texts:
    octets, lengths = encode_texts(texts)
    return Utf8Texts(octets.copy(), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), plain)


@settings(deadline=None)
@given(st.lists(text, max_size=6), st.integers(-7, 7), st.integers(-7, 7))
def test_it_is_read_and_sliced_as_a_list(texts, begin, end) -> None:
    column = utf8_texts(texts)
    assert column == texts
    assert column != [*texts, "more"]
    assert len(column) == len(texts)
    part = column[begin:end]
    assert part == texts[begin:end]
    assert part[:1] == texts[begin:end][:1]
    assert [column[i] for i in range(-len(texts), len(texts))] == texts * 2
    assert "" in column or "" not in texts
    assert None not in column
    assert is_ascii(part) == "".join(texts[begin:end]).isascii()
    octets, lengths = encode_texts(part)
    expected, expected_lengths = encode_texts(texts[begin:end])
    assert lengths.tolist() == expected_lengths.tolist()
    assert octets[:-PADDING].tolist() == expected[:-PADDING].tolist()


@settings(deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\'), max_size=9), max_size=6)
)
def test_plain_texts_are_a_json_list(texts) -> None:
    assert bytes(utf8_texts(texts, plain=True).json()) == msgspec.json.encode(texts)
