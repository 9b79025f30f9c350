"""Fields outside a message's value complete the event in the value."""

import numpy as np
import pytest

from connectors.kafka.messages import from_lists
from streamlin.events import Records, single_records
from tests.formats.reading import opened


def message_records(*messages: tuple[bytes | None, bytes, list[tuple[str, bytes | None]]]) -> Records:
    """Messages of partition 3 from offset 10 on: key, value and headers; a second apart."""
    keys, values, headers = zip(*messages, strict=True)
    records = from_lists("topic", 3, range(10, 10 + len(messages)), values, 1000)
    records.keys, records.headers, records.times = keys, headers, [1500 + 1000 * i for i in range(len(messages))]
    return records


def label(text: bytes) -> list[tuple[str, bytes | None]]:
    return [("label", text)]


def test_a_plain_text_and_its_envelope():
    """A text has no fields of its own."""
    format_ = opened(
        "text", ["partition", "headers.b"], label="headers.label", id="key", time="timestamp", weight="headers.w"
    )
    records = message_records(
        (b"1", b"one", [("label", b"good"), ("w", b"0.5"), ("b", b"x")]),
        (b"2", b"two", label(b"")),
        (None, b"three", []),
    )
    batch, dead = format_.decode(records)
    assert dead == []
    assert batch.ids == ["1", "2", "topic/3/12"]
    assert batch.labels == ["good", None, None]
    assert batch.times.tolist() == [1.5, 2.5, 3.5]
    assert batch.weights.tolist() == [0.5, 1.0, 1.0]
    assert batch.extra == {"partition": ["3", "3", "3"], "headers.b": ["x", None, None]}


@pytest.mark.parametrize(
    ("name", "options", "value"),
    [
        ("json", {}, b'{"text": "one", "key": "own", "label": "l", "timestamp": 9, "partition": "mine"}'),
        ("csv", {"columns": "text,key,label,timestamp,partition"}, b"one,own,l,9,mine"),
        ("tsv", {"columns": "text,key,label,timestamp,partition"}, b"one\town\tl\t9\tmine"),
        (
            "regex",
            {"pattern": r"(?P<text>\w+) (?P<key>\w+) (?P<label>\w) (?P<timestamp>\d) (?P<partition>\w+)"},
            b"one own l 9 mine",
        ),
    ],
)
def test_a_field_of_the_value_takes_precedence(name, options, value):
    """The envelope is used only for missing fields."""
    format_ = opened(name, ["partition"], options, id="key", time="timestamp")
    batch, dead = format_.decode(message_records((b"other", value, label(b"other"))))
    assert dead == []
    assert (batch.ids, batch.labels, batch.times.tolist(), batch.extra["partition"]) == (
        ["own"],
        ["l"],
        [9.0],
        ["mine"],
    )


def test_each_event_is_completed_from_its_own_envelope():
    format_ = opened("json", ["offset", "topic"], label="headers.label", id="key")
    records = message_records(
        (b"1", b'{"text": "a", "headers": {"label": "own"}, "key": "own"}', label(b"header")),
        (b"2", b'{"text": "b", "headers": {"label": null}, "key": ""}', label(b"header")),
        (None, b'{"text": "c", "topic": 7}', []),
    )
    batch, _ = format_.decode(records)
    assert batch.labels == ["own", "header", None]
    assert batch.ids == ["own", "2", "topic/3/12"]
    assert batch.extra == {"offset": ["10", "11", "12"], "topic": ["topic", "topic", "7"]}


def test_events_between_bad_records_keep_their_envelope():
    format_ = opened("json", id="key")
    records = message_records(
        (b"0", b"no JSON", []),
        (b"1", b'{"text": "a"}', []),
        (b"2", b"", []),
        (b"3", None, []),
        (b"4", b'{"text": "b"}', []),
    )
    batch, dead = format_.decode(records)
    assert [letter.record for letter in dead] == [0, 2]
    assert dead[1].error == "the message is empty"
    assert batch.ids == ["1", "4"]
    assert batch.kept.tolist() == [1, 4]


@pytest.mark.parametrize(
    ("fields", "header", "error"),
    [
        ({"weight": "headers.x"}, b"much", "weight is 'much', expected a number"),
        ({"weight": "headers.x"}, b"-1", "weight is -1, expected a number from 0 to 1e+09"),
        ({"weight": "headers.x"}, b"1e999", "weight is inf, expected a number from 0 to 1e+09"),
        (
            {"time": "headers.x"},
            b"noon",
            "time is 'noon', expected Unix seconds or RFC 3339, such as 2024-05-01T12:00:00Z",
        ),
    ],
)
def test_an_invalid_envelope_value_makes_a_dead_letter(fields, header, error):
    """Only for this message."""
    records = message_records((None, b"a", [("x", header)]), (None, b"b", [("x", b"2")] if "weight" in fields else []))
    batch, dead = opened("text", **fields).decode(records)
    assert [(letter.record, letter.error) for letter in dead] == [(0, error)]
    assert batch.texts == ["b"]


def test_records_without_an_envelope_are_unchanged():
    """Lines of a file have no envelope: an event without an id stays without one."""
    format_ = opened("json", ["partition"], id="key", label="headers.label")
    batch, dead = format_.decode(single_records([b'{"text": "a"}', b'{"text": "b", "key": "k"}']))
    assert dead == []
    assert (batch.ids, batch.labels, batch.extra) == ([None, "k"], [None, None], {"partition": [None, None]})
    assert np.isnan(batch.times).all()


def test_a_unit_of_times_is_that_of_headers_and_not_of_timestamps():
    """Headers are texts of whoever sent them; the broker's timestamps are known to be in seconds here."""
    records = message_records((b"1", b"one", [("t", b"1500")]), (b"2", b"two", [("t", b"2024-05-01")]))
    for field, expected in (("headers.t", [1.5, 1714521600.0]), ("timestamp", [1.5, 2.5])):
        format_ = opened("text", [], time=field)
        format_.read_times_in(1000.0)
        batch, dead = format_.decode(records)
        assert dead == []
        assert batch.times.tolist() == expected
