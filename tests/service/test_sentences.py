"""Bodies with sentences, and the lines in the journal that they become."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from streamlin.config.loading import load_config
from streamlin.service.bodies import Bodies
from streamlin.service.problems import Refused
from streamlin.service.sentences import Sentence, TaggedSentence, batch_of
from streamlin.streams.json_lines import json_lines

CONFIG = load_config(flags={"task": "tagging", "fields.columns": ["pos", "meta.case"]}, environment={})
texts = st.text(st.characters(exclude_categories=["Cs"]))
tags = st.none() | texts.filter(bool)
tokens = st.lists(st.tuples(texts, tags, st.none() | texts))


def read(value: Any, model: type[Sentence] = TaggedSentence) -> Sentence:
    (body,), _ = Bodies(model, 10, CONFIG).read(json.dumps(value).encode())
    return body


@given(tokens)
def test_a_line_is_read_back_as_the_same_sentence(given: list[tuple[str, str | None, str | None]]) -> None:
    words, own, cases = ([row[i] for row in given] for i in range(3))
    body = read({"id": 7, "tokens": words, "tags": own, "columns": {"meta.case": cases}})
    batch = batch_of([body], json_lines(CONFIG))
    assert (batch.ids, batch.texts) == (["7"], words)
    assert batch.tokens is not None
    assert batch.tokens.tags == own
    assert batch.tokens.columns == {"pos": [""] * len(words), "meta.case": [case or "" for case in cases]}


def test_a_text_stays_a_text() -> None:
    """So that predictions from the journal have places, too; its parts are those of several fields."""
    config = load_config(flags={"task": "tagging", "fields.text": ["title", "body"]}, environment={})
    (body,), _ = Bodies(Sentence, 10, config).read(b'{"text": "A dog\\nIt barks."}')
    lines = json_lines(config)
    assert json.loads(body.line(lines)) == {"title": "A dog", "body": "It barks."}
    batch = batch_of([body], lines)
    assert batch.texts == ["A", "dog", "It", "barks", "."]
    assert batch.tokens is not None
    assert batch.tokens.offsets is not None
    assert batch.tokens.offsets.tolist()[2:] == [[6, 8], [9, 14], [14, 15]]


def test_tags_of_a_text_are_counted_once_it_is_cut() -> None:
    body = read({"text": "A dog.", "tags": ["DET", "NOUN"]})
    with pytest.raises(Refused, match=r"^tags has 2 values for 3 tokens, expected as many$"):
        batch_of([body], json_lines(CONFIG))


def test_tags_alone_are_the_tags_of_an_earlier_sentence() -> None:
    """The line has neither tokens nor a text."""
    body = read({"id": 7, "tags": ["DET", None], "weight": 2})
    assert body.is_label
    assert json.loads(body.line(json_lines(CONFIG))) == {"id": "7", "tags": ["DET", None], "weight": 2.0}
    assert not read({"id": 7, "tags": [], "tokens": []}).is_label


def test_weight_zero_brings_no_tag() -> None:
    sentence = {"tokens": ["a", "b", "c"], "tags": ["X", None, "X"]}
    assert list(read(sentence).labels) == ["X"]
    assert list(read(sentence | {"weight": 0}).labels) == []
    assert read(sentence).size == 3


def test_a_million_wrong_tokens_are_one_finding() -> None:
    """Reading ends at the first wrong one."""
    body = b'{"tokens": [' + b",".join([b"1"] * 1_000_000) + b"]}"
    with pytest.raises(Refused, match=r"^tokens\[0\]: needs a text, got 1$") as refused:
        Bodies(Sentence, 10, CONFIG).read(body)
    findings = refused.value.__context__
    assert isinstance(findings, ValidationError)
    assert findings.error_count() == 1
