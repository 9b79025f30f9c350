"""Records that are only the label of an earlier text."""

import json

import pytest

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError
from streamlin.events import single_records
from streamlin.formats import FORMATS, open_format


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
