"""Records that are only the label of an earlier text."""

import json
from itertools import pairwise

import pytest

from streamlin.config import FieldsConfig, RunConfig
from streamlin.errors import ConfigError
from streamlin.events import single_records
from streamlin.formats import FORMATS, open_format
from streamlin.streams.decoders import open_decoder
from streamlin.streams.json_lines import json_lines


def decoded(name, lines, options=None, **fields):
    """Id, label and text of each event, with text None for a label alone; and the numbers of the dead letters."""
    reader = open_format(name, options or {}, FieldsConfig(**fields), ())
    reader.take_delayed_labels()
    batch, dead = reader.decode(single_records([line.encode() for line in lines]))
    late = [False] * len(batch) if batch.label_only is None else batch.label_only.tolist()
    events = [
        (event.id, event.label, None if is_label_only else event.text)
        for event, is_label_only in zip(batch.events(), late, strict=True)
    ]
    return events, {letter.record: letter.error for letter in dead}


def test_json_records_with_only_a_label():
    lines = [
        {"id": "1", "text": "a", "label": "x"},
        {"id": "1", "label": "x"},
        {"id": 2, "text": None, "label": 7},
        {"id": "3", "text": "", "label": "x"},
        {"id": "4"},
        {"label": "x"},
        {"text": "b"},
    ]
    events, dead = decoded("json", map(json.dumps, lines))
    assert events == [("1", "x", "a"), ("1", "x", None), ("2", "7", None), ("3", "x", ""), (None, None, "b")]
    assert dead == dict.fromkeys((4, 5), "expected a text, or a label with an id; found neither")


def test_json_labels_with_several_text_fields():
    lines = ['{"id": "1", "title": "a"}', '{"id": "1", "label": "x"}', '{"id": "2", "body": "b", "label": "y"}']
    events, dead = decoded("json", lines, text=("title", "body"))
    assert events == [("1", None, "a"), ("1", "x", None), ("2", "y", "b")]
    assert not dead


def test_a_label_alone_is_a_dead_letter_by_default():
    reader = open_format("json", {}, FieldsConfig(), ())
    batch, dead = reader.decode(single_records([b'{"id": "1", "label": "x"}', b'{"text": "a"}']))
    assert (len(batch), batch.label_only, [letter.record for letter in dead]) == (1, None, [0])


def test_csv_rows_with_only_a_label():
    events, dead = decoded("csv", ["1,a,", "1,,x", "2,,", ",,x"], {"columns": "id,text,label"})
    assert events == [("1", None, "a"), ("1", "x", None), ("2", None, ""), (None, "x", "")]
    assert not dead


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"json", "csv", "tsv", "conll"}))
def test_other_formats_refuse_delayed_labels(name):
    options = {"pattern": "(?P<text>.*)"} if name == "regex" else None
    with pytest.raises(ConfigError, match="delayed labels need json, csv or tsv"):
        decoded(name, [], options)


def sentences_of(lines, **tables):
    """Id, label, tokens and tags of each event, tokens None for tags alone; and the dead letters' errors by number."""
    reader = json_lines(RunConfig(task="tagging", delayed_labels={"enabled": True}, **tables))
    batch, dead = reader.decode(single_records([json.dumps(line).encode() for line in lines]))
    late = [False] * len(batch) if batch.label_only is None else batch.label_only.tolist()
    bounds = batch.pieces.tolist()
    events = [
        (batch.ids[i], batch.labels[i], None if late[i] else batch.texts[slice(*own)], batch.tokens.tags[slice(*own)])
        for i, own in enumerate(pairwise(bounds))
    ]
    return events, {letter.record: letter.error for letter in dead}


def test_json_records_with_only_tags():
    """Columns and further fields of such records are not looked at."""
    lines = [
        {"id": "1", "tokens": ["a", "b"], "tags": ["X", None], "pos": ["P", "Q"]},
        {"id": "1", "tags": ["X", None, ""], "pos": ["P"]},
        {"id": 2, "tokens": None, "text": None, "tags": ["Y"]},
        {"id": "3", "tokens": [], "tags": []},
        {"id": "3", "tags": []},
        {"id": "4", "text": "a b", "pos": ["P", "Q"]},
        {"id": "5"},
        {"id": "5", "tags": [None, None]},
        {"tags": ["X"]},
        {"id": "6", "tokens": [], "tags": ["X"]},
        {"id": "7", "tags": "X"},
    ]
    events, dead = sentences_of(lines, fields={"columns": ["pos"]})
    assert events == [
        ("1", None, ["a", "b"], ["X", None]),
        ("1", '["X",null,null]', None, []),
        ("2", '["Y"]', None, []),
        ("3", None, [], []),
        ("3", "[]", None, []),
        ("4", None, ["a", "b"], [None, None]),
    ]
    neither = "expected tokens or a text, or tags with an id; found neither"
    assert [dead[number] for number in (6, 7, 8)] == [neither] * 3
    assert dead[9] == "tags has 1 values for 0 tokens, expected as many"
    assert dead[10].startswith("tags is ")


def test_late_tags_are_as_short_as_others():
    long = {"id": "1", "tags": ["a", "b" * 129]}
    events, dead = sentences_of([long, {"id": "1", "tags": ["b" * 128] * 20}], pipeline={"max_label_characters": 128})
    assert len(events) == 1
    assert dead == {0: "the label has 129 characters, expected at most pipeline.max_label_characters = 128"}


def test_tags_alone_are_a_dead_letter_by_default():
    reader = json_lines(RunConfig(task="tagging"))
    batch, dead = reader.decode(single_records([b'{"id": "1", "tags": ["x"]}', b'{"tokens": ["a"]}']))
    assert (len(batch), batch.label_only, [letter.record for letter in dead]) == (1, None, [0])


@pytest.mark.parametrize("name", ["conll", "text", "regex"])
def test_other_formats_of_sentences_have_no_tags_without_tokens(name):
    options = {"pattern": "(?P<text>.*)"} if name == "regex" else {}
    reader = open_decoder(name, options, RunConfig(task="tagging"))
    with pytest.raises(ConfigError, match="no tags without tokens; tags that come later need json, here or in a file"):
        reader.take_delayed_labels()
