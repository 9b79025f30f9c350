"""Sentences in JSON lines: tokens and tags, texts cut into tokens, further columns."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError
from streamlin.events import single_records
from streamlin.features.text_tokens import cutter
from streamlin.formats import open_sentences
from streamlin.testing import check_batch


def opened(kind="words", **fields):
    return open_sentences("json", {}, FieldsConfig(**fields), (), cutter(kind))


def decoded(*events, **fields):
    """The batch of objects that are all good."""
    batch, dead = opened(**fields).decode(records(*events))
    assert dead == []
    check_batch(batch)
    return batch


def records(*events):
    return single_records([e if isinstance(e, bytes) else json.dumps(e, ensure_ascii=False).encode() for e in events])


def error(event, **fields):
    batch, dead = opened(**fields).decode(records(event))
    assert len(batch) == 0
    return dead[0].error


def test_tokens_and_tags_are_columns():
    batch = decoded({"id": 1, "tokens": ["a", "b"], "tags": ["X", "Y"]}, {"tokens": ["c"], "tags": ["X"], "weight": 2})
    assert (batch.texts, batch.tokens.tags, batch.pieces.tolist()) == (["a", "b", "c"], ["X", "Y", "X"], [0, 2, 3])
    assert (batch.ids, batch.weights.tolist(), batch.tokens.offsets) == (["1", None], [1, 2], None)


def test_tags_may_be_unknown():
    """All of them, null or missing, or some: null, or empty."""
    batch = decoded(
        {"tokens": ["a", "b"], "tags": None}, {"tokens": ["c"]}, {"tokens": ["d", "e", "f"], "tags": ["X", None, ""]}
    )
    assert batch.tokens.tags == [None, None, None, "X", None, None]


def test_a_sentence_may_be_empty():
    batch = decoded({"tokens": []}, {"tokens": ["a"]}, {"tokens": [], "tags": []}, {"text": ""}, {"text": " \n"})
    assert batch.pieces.tolist() == [0, 0, 1, 1, 1, 1]


def test_further_columns_may_be_missing():
    """Wholly, or a value of them: then it is empty."""
    batch = decoded(
        {"tokens": ["a", "b"], "pos": ["P", None]}, {"tokens": ["c"]}, {"tokens": ["d"], "pos": None}, columns=["pos"]
    )
    assert batch.tokens.columns == {"pos": ["P", "", "", ""]}


def test_fields_have_names_and_paths():
    batch = decoded(
        {"words": ["a"], "gold": {"tags": ["X"]}, "gold.pos": ["P"]},
        tokens="words",
        tags="gold.tags",
        columns=["gold.pos"],
    )
    assert (batch.texts, batch.tokens.tags, batch.tokens.columns) == (["a"], ["X"], {"gold.pos": ["P"]})


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ({"tokens": ["a", "b"], "tags": ["X"]}, "tags has 1 values for 2 tokens, expected as many"),
        ({"tokens": [], "tags": ["X"]}, "tags has 1 values for 0 tokens, expected as many"),
        ({"tokens": ["a"], "pos": ["P", "Q"]}, "pos has 2 values for 1 tokens, expected as many"),
        ({"text": "two words", "tags": ["X"]}, "tags has 1 values for 2 tokens, expected as many"),
        ({"tags": ["X"]}, "tokens and text are missing, expected one of the two"),
        ({"tokens": None, "text": None}, "tokens and text are missing, expected one of the two"),
        ({"tokens": "a b"}, "tokens is of type str, expected array"),
        ({"tokens": ["a", 1]}, "tokens"),
        ({"tokens": ["a", None]}, "tokens"),
        ({"tokens": [["a"]]}, "tokens"),
        ({"tokens": ["a"], "tags": "X"}, "tags is of type str, expected array"),
        ({"tokens": ["a"], "tags": [1]}, "tags"),
        ({"tokens": ["a"], "pos": {"a": 1}}, "pos is of type object, expected array"),
        ({"tokens": ["a"], "weight": -1}, "weight"),
        (b"[]", "array"),
        (b'{"tokens": ["a"', "not JSON"),
        (b'{"tokens": ["\\ud800"]}', "JSON"),
    ],
)
def test_what_is_no_sentence_is_a_dead_letter(event, says):
    """Its error is one line, and its neighbours are read."""
    told = error(event, columns=["pos"])
    assert says in told
    assert len(told.splitlines()) == 1
    good = {"tokens": ["a"], "tags": ["X"]}
    batch, dead = opened(columns=["pos"]).decode(records(good, event, good))
    assert (batch.texts, batch.kept.tolist(), [letter.record for letter in dead]) == (["a", "a"], [0, 2], [1])


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Well, it works.", ["Well", ",", "it", "works", "."]),
        ("a\n\tb  ", ["a", "b"]),
        ("👍🏽 ok", ["👍", "🏽", "ok"]),
        ("e\u0301te\u0301!", ["e\u0301te\u0301", "!"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("x_1 don't", ["x_1", "don", "'", "t"]),
    ],
)
def test_a_text_is_cut_into_words_and_signs(text, tokens):
    """Their places are in characters: an emoji outside the first plane is one, a combining mark another."""
    batch = decoded({"text": text})
    assert batch.texts == tokens
    assert [text[begin:end] for begin, end in batch.tokens.offsets.tolist()] == tokens


@given(st.text(max_size=40))
def test_cut_texts_lose_nothing_but_blanks(text):
    tokens, places = cutter("words")(text)
    assert [text[begin:end] for begin, end in places] == tokens
    ends = [0, *(end for _, end in places)]
    assert all(end <= begin for end, (begin, _) in zip(ends, places, strict=False))
    gaps = "".join(text[end:begin] for end, begin in zip(ends, [*(b for b, _ in places), len(text)], strict=True))
    assert gaps.strip() == ""


@pytest.mark.parametrize(
    ("kind", "tokens"),
    [("whitespace", ["I've", "a", "dog,", "too"]), ("scikit-learn", ["ve", "dog", "too"])],
)
def test_a_view_may_cut_otherwise(kind, tokens):
    assert cutter(kind)("I've a dog, too")[0] == tokens


def test_tags_of_a_text_belong_to_its_tokens():
    batch = decoded({"text": "It works.", "tags": ["P", "V", None]})
    assert batch.tokens.tags == ["P", "V", None]


def test_texts_and_tokens_may_be_mixed():
    """A sentence that came as tokens has no places in a text."""
    batch = decoded({"tokens": ["a", "b"], "text": "ignored"}, {"text": "c d"}, {"tokens": [], "text": "ignored"})
    assert batch.texts == ["a", "b", "c", "d"]
    assert batch.tokens.offsets.tolist() == [[-1, -1], [-1, -1], [0, 1], [2, 3]]
    assert batch.pieces.tolist() == [0, 2, 4, 4]


def test_several_texts_are_cut_as_one():
    """Joined by line feeds, as everywhere."""
    batch = decoded({"title": "A b", "body": "c"}, {"body": "d"}, text=["title", "body"])
    assert (batch.texts, batch.pieces.tolist()) == (["A", "b", "c", "d"], [0, 3, 4])
    assert batch.tokens.offsets.tolist() == [[0, 1], [2, 3], [4, 5], [0, 1]]


def test_a_field_can_not_be_tokens_and_tags():
    with pytest.raises(ConfigError, match="'tokens' is used twice"):
        opened(tags="tokens")
