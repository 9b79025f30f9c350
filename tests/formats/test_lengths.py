"""Labels, ids and further fields that are too long make dead letters, in every format."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.config.pipeline import PipelineConfig
from streamlin.events import Records, single_records
from streamlin.formats.lengths import Lengths
from streamlin.streams.python_objects import IterableSource
from tests.formats.reading import opened, read

LONG = "x" * 1001
FORMATS = [
    ("json", b'{"text": "a", "label": "%s"}\n', {}),
    ("csv", b"text,label\na,%s\n", {}),
    ("tsv", b"text\tlabel\na\t%s\n", {}),
    ("fasttext", b"__label__%s a\n", {}),
    ("vw", b"%s | a\n", {}),
    ("regex", b"%s: a\n", {"pattern": "(?P<label>[^:]*): (?P<text>.*)"}),
]


class Keyed(Records):
    """Records with a key of 5,000 characters beside each."""

    def envelope(self, name: str, kept: NDArray[np.int64]) -> list[Any] | None:
        return ["k" * 5000] * kept.size if name == "key" else None


@pytest.mark.parametrize(("name", "record", "options"), FORMATS, ids=[name for name, _, _ in FORMATS])
def test_a_long_label_is_a_dead_letter_in_every_format(name: str, record: bytes, options: dict[str, str]) -> None:
    format_ = opened(name, options=options)
    for label, errors in (
        (LONG[:1000], []),
        (LONG, ["the label has 1,001 characters, expected at most pipeline.max_label_characters = 1,000"]),
    ):
        events, dead = read(format_, record % label.encode())
        assert [letter.error for letter in dead] == errors
        assert [event.label for event in events] == [label] * (not errors)


@pytest.mark.parametrize(
    ("key", "most", "reason"),
    [
        ("id", 4000, "the id has 4,001 characters, expected at most pipeline.max_id_characters = 4,000"),
        (
            "a.b",
            9000,
            "the field 'a.b' has 9,001 characters, expected at most pipeline.max_field_characters = 9,000",
        ),
    ],
)
def test_long_ids_and_fields_are_dead_letters(key: str, most: int, reason: str) -> None:
    """The other records of the batch are events."""
    format_ = opened("json", ("a.b",))
    format_.lengths = Lengths(field=9000)
    lines = [b'{"text": "%s", "%s": "%s"}' % (b"t" * 20_000, key.encode(), b"x" * size) for size in (most, most + 1, 1)]
    events, dead = read(format_, b"\n".join(lines))
    assert [(letter.record, letter.error) for letter in dead] == [(1, reason)]
    assert len(events) == 2


def test_values_beside_the_record_are_measured_too() -> None:
    """The key of a message, however short its value."""
    short = single_records([b'{"text": "a"}'])
    records = Keyed(short.data, short.starts, short.ends, short.offsets, short.nexts, "topic/0")
    for fields, errors in (({"id": "key"}, 1), ({"label": "key"}, 1), ({}, 0)):
        _, dead = opened("json", **fields).decode(records)
        assert len(dead) == errors


@pytest.mark.parametrize("limits", [Lengths(128, 128, 128), Lengths()])
def test_numbers_that_are_longer_as_text_are_measured(limits: Lengths) -> None:
    """1e300 has 301 digits; a record that is shorter than all bounds may hold it."""
    format_ = opened("json")
    format_.lengths = limits
    dead: Sequence[Any] = read(format_, b'{"text": "a", "label": 1e300}')[1]
    assert len(dead) == (limits.label < 301)


@pytest.mark.parametrize("task", ["classification", "tagging"])
def test_the_configured_bounds_hold_for_python_objects(task: Literal["classification", "tagging"]) -> None:
    config = RunConfig(task=task, pipeline=PipelineConfig(max_label_characters=128))
    rows: list[Any] = [(["a"], [label]) if task == "tagging" else ("a", label) for label in (LONG[:129], "OK")]
    source = IterableSource(rows, config)
    batch, dead = source.format.decode(source.records(rows))
    assert len(batch) == 1
    reason = "the label has 129 characters, expected at most pipeline.max_label_characters = 128"
    assert [(letter.record, letter.error) for letter in dead] == [(0, reason)]
