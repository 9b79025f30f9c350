"""Messages as records: sliced, and what they have besides their values."""

import json
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.kafka.messages import CUT, Fields, Messages, beginning, from_lists, from_records

LONGEST = 20
values = st.lists(st.none() | st.binary(max_size=25), max_size=12)


def messages(payloads, first=0, part=3, step=1):
    """One message for each value, with a key, headers and a time of its own."""
    offsets = [first + step * i for i in range(len(payloads))]
    found = from_lists("topic", part, offsets, payloads, LONGEST)
    found.keys = [b"key %d" % offset for offset in offsets]
    found.headers = [[("h", b"%d" % offset)] for offset in offsets]
    found.times = [1000 * offset for offset in offsets]
    return found


def seen(records):
    """Everything about each message."""
    kept = np.arange(len(records))
    envelope = [records.envelope(name, kept) for name in ("key", "headers.h", "timestamp", "offset")]
    return [
        (*(column[i] for column in envelope), *records.raw(i), records.errors.get(i), i in records.tombstones)
        for i in range(len(records))
    ]


@given(values)
def test_messages_of_lists(payloads):
    found = messages(payloads, 100, step=2)
    for i, payload in enumerate(payloads):
        assert found.raw(i)[1] == payload
        assert found[i] == (payload or b"")
        assert (i in found.tombstones) == (payload is None)
        empty = payload is not None and len(payload) <= 2 and not payload.strip(b"\r\n")
        assert (i in found.errors) == (empty or len(payload or b"") > LONGEST)
        assert found.name(i) == f"topic/3/{100 + 2 * i}"
        assert found.position(i + 1) == {"offset": 101 + 2 * i, "last": found.last(i)}
    assert found.position(0) == {"offset": 100 if payloads else 0}


def test_a_value_that_is_too_long_is_cut():
    found = from_lists("t", 0, [0, 1, 2, 3], [b"x" * (CUT + 1), b"", b"fine", b"\r\n"], CUT)
    assert found.errors == {
        0: f"record of {CUT + 1} bytes is over max_record_bytes = {CUT}",
        1: "the message is empty",
        3: "the message is empty",
    }
    assert [len(found[i]) for i in range(3)] == [CUT, 0, 4]


def test_the_last_record_is_known_by_offset_key_and_value():
    """A value that is cut is the same one wherever the limit is; a part of the messages knows it as the whole does."""
    found = messages([b"a", b"b", b"x" * (CUT + 5), b"a"])
    cut = from_lists("topic", 3, [2], [b"x" * (CUT + 5)], CUT)
    cut.keys = [b"key 2"]
    assert cut.last(0) == found.last(2)
    assert found.between(1, 4).last(1) == found.last(2)
    others = [found.last(i)[1] for i in range(4)]
    assert len(set(others)) == 4


@given(values, st.data())
def test_a_slice_equals_that_part_of_the_whole(payloads, data):
    """So does a slice of a slice."""
    whole = messages(payloads)
    begin = data.draw(st.integers(0, len(payloads)))
    end = data.draw(st.integers(begin, len(payloads) + 2))
    part = whole.between(begin, end)
    assert seen(part) == seen(whole)[begin:end]
    inner = data.draw(st.integers(0, len(part)))
    assert seen(part.between(inner, len(part))) == seen(whole)[begin:end][inner:]
    assert part.position(0)["offset"] == begin if begin else part.begin == 0


class Record(NamedTuple):
    """A record of some client."""

    at: int
    content: bytes | None


FIELDS = Fields(
    offset=lambda record: record.at,
    value=lambda record: record.content,
    key=lambda record: b"key %d" % record.at,
    headers=lambda record: [("h", b"%d" % record.at)],
    time=lambda record: 1000 * record.at,
    leader_epoch=lambda record: record.at or None,
)


@given(values.filter(bool), st.integers(1, 3))
def test_messages_of_a_clients_records(payloads, step):
    """They equal messages of lists, whether offsets have gaps or not."""
    records = [Record(step * i, payload) for i, payload in enumerate(payloads)]
    found, expected = from_records("topic", 3, records, FIELDS, 0, LONGEST), messages(payloads, step=step)
    assert seen(found) == seen(expected)
    assert found.offsets.tolist() == expected.offsets.tolist()
    assert (found.leader_epoch, found.begin) == (records[-1].at or -1, 0)
    cut = len(records) // 2
    assert seen(found.between(cut, len(found))) == seen(expected)[cut:]


def test_a_position_has_the_topics_id_and_epoch():
    found = messages([b"a", b"b"], 5)
    found.topic_id, found.leader_epoch = "id", 0
    assert found.position(1) == {"offset": 6, "last": found.last(0), "topic_id": "id", "leader_epoch": 0}
    assert found.position(0) == {"offset": 5, "topic_id": "id", "leader_epoch": 0}
    assert json.loads(json.dumps(found.position(2))) == found.position(2)


def test_a_beginning_has_a_position_but_no_record():
    """And the number of records that are lost before it."""
    word = beginning("topic", 3, 40, 25, True)
    assert (len(word), word.lost, word.position(0)) == (0, 25, {"offset": 40})
    assert (word.between(0, 0).lost, word.between(0, 0).anew) == (25, True)


def envelope(name, **columns):
    found = messages([b"a", b"b", b"c"], 7)
    for column, content in columns.items():
        setattr(found, column, content)
    return found.envelope(name, np.array([0, 2]))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("key", ["key 7", "key 9"]),
        ("headers.h", ["7", "9"]),
        ("headers.x", [None, None]),
        ("timestamp", [7.0, 9.0]),
        ("offset", [7, 9]),
        ("topic", ["topic", "topic"]),
        ("partition", [3, 3]),
        ("headers", None),
        ("label", None),
    ],
)
def test_envelope_fields(name, expected):
    assert envelope(name) == expected


def test_keys_that_are_not_utf8_are_escaped():
    """As Python writes them."""
    assert envelope("key", keys=[b"\xff\x00", b"", "é".encode()]) == ["\\xff\x00", "é"]
    assert envelope("key", keys=[None, b"", b""]) == [None, ""]


def test_the_last_of_several_headers_counts():
    """One without a value gives None."""
    headers = [[("h", b"1"), ("h", b"2")], [], [("g", b"3"), ("h", None)]]
    assert envelope("headers.h", headers=headers) == ["2", None]


def test_a_time_of_minus_one_is_unknown():
    assert envelope("timestamp", times=np.array([-1, 0, 1500])) == [None, 1.5]


def test_default_ids_are_topic_partition_and_offset():
    assert messages([b"a", b"b", b"c"], 7).default_ids(np.array([0, 2])) == ["topic/3/7", "topic/3/9"]


def test_an_empty_piece():
    assert isinstance(messages([]).between(0, 5), Messages)
