"""Texts as one buffer behave as the list of them."""

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlin.kernel.byte_buffers import PADDING, change_beyond_ascii, encode_texts
from tests.utf8_texts import utf8_texts

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
plain = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\'), max_size=9)


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
    octets, lengths = encode_texts(part)
    expected, expected_lengths = encode_texts(texts[begin:end])
    assert lengths.tolist() == expected_lengths.tolist()
    assert octets[:-PADDING].tolist() == expected[:-PADDING].tolist()


@settings(deadline=None)
@given(
    st.lists(text, max_size=6),
    st.integers(-7, 7),
    st.integers(-7, 7),
    st.sampled_from([str.lower, lambda text: 2 * text, lambda _: ""]),
)
def test_only_texts_beyond_ascii_are_changed(texts, begin, end, change) -> None:
    """Whether they become longer or shorter, and wherever the texts begin and end in their buffer."""
    expected = [text if text.isascii() else change(text) for text in texts[begin:end]]
    assert change_beyond_ascii(texts[begin:end], change) == expected
    changed = change_beyond_ascii(utf8_texts(texts)[begin:end], change)
    assert changed == expected
    octets, lengths = encode_texts(changed)
    assert octets.size >= lengths.sum() + PADDING
    assert octets.flags.writeable, "kernels are compiled for arrays that are"


@settings(deadline=None)
@given(st.lists(st.text("01é", max_size=4), max_size=6), st.integers(-7, 7), st.integers(-7, 7))
def test_texts_with_a_byte_are_found(texts, begin, end) -> None:
    part = utf8_texts(texts)[begin:end]
    flags = (part.octets == ord("0")).view(np.uint8)
    assert part.having(flags).tolist() == [i for i, text in enumerate(texts[begin:end]) if "0" in text]


def test_nothing_is_copied_where_nothing_changes() -> None:
    column = utf8_texts(["A", "ä", ""])
    assert change_beyond_ascii(column, str.lower) is column


@settings(deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\'), max_size=9), max_size=6)
)
def test_plain_texts_are_a_json_list(texts) -> None:
    assert bytes(utf8_texts(texts, plain=True).json()) == msgspec.json.encode(texts)
