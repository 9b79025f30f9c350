"""Records that are whole messages: they may end with a line end, or begin with a schema registry's frame."""

import pytest

from streamlin.events import Records, single_records
from streamlin.formats.base import Format
from tests.formats.reading import opened

RECORDS = {
    "json": b'{"text": "win now", "label": "spam"}',
    "csv": b"win now,spam",
    "tsv": b"win now\tspam",
    "vw": b"spam | win now",
    "fasttext": b"__label__spam win now",
    "regex": b"win now -> spam",
    "text": b"win now",
}
OPTIONS = {
    "csv": {"columns": "text,label"},
    "tsv": {"columns": "text,label"},
    "regex": {"pattern": "(?P<text>.*) -> (?P<label>.*)"},
}


def opened_for_messages(name: str) -> Format:
    return opened(name, options=OPTIONS.get(name))


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", RECORDS)
def test_one_line_end_at_the_end_is_dropped(name: str, end: bytes) -> None:
    """Alone, among records without one, and behind a byte order mark."""
    format_, record = opened_for_messages(name), RECORDS[name]
    for payloads in ([record + end], [record, record + end, record], [b"\xef\xbb\xbf" + record + end]):
        batch, dead = format_.decode(single_records(payloads))
        assert not dead
        assert {event.text for event in batch.events()} == {"win now"}
        assert {event.label for event in batch.events()} == {None if name == "text" else "spam"}


@pytest.mark.parametrize("record", [b"\n", b"\r\n", b"", b"\n\n", b"a\r", b"a\n\r\n"])
def test_only_one_line_end_is_dropped(record: bytes) -> None:
    batch, dead = opened("text").decode(single_records([record, b"b"]))
    expected = record.decode().removesuffix("\n") if not record.endswith(b"\r\n") else record.decode()[:-2]
    assert ([event.text for event in batch.events()], dead) == ([expected, "b"], [])


FRAME = "begins like a schema registry's frame, id {}; write the topic without the registry's serializer, or convert it to plain JSON"  # noqa: E501


@pytest.mark.parametrize("schema", [1, 10, 17, 123, 100_017])
@pytest.mark.parametrize("name", RECORDS)
def test_a_schema_registrys_frame_is_named(name: str, schema: int) -> None:
    """Before Avro and before what the format reads; records beside it are events."""
    format_, frame = opened_for_messages(name), b"\0" + schema.to_bytes(4)
    for payload in (b"\x00\x0ewin now\x02\x08spam", b"\x08spam"):
        batch, dead = format_.decode(single_records([RECORDS[name], frame + payload, RECORDS[name]]))
        assert [(letter.record, letter.error) for letter in dead] == [(1, FRAME.format(schema))]
        assert len(batch) == 2


def test_json_behind_a_frame_is_no_event() -> None:
    """Unless the frame consists of blanks, which JSON reads over."""
    records = single_records([b"\0\0\0\0{" + RECORDS["json"], b"\0\0\0\0 " + RECORDS["json"], b"\0" + RECORDS["json"]])
    batch, dead = opened("json").decode(records)
    assert [(letter.record, letter.error) for letter in dead] == [(0, FRAME.format(123))]
    assert [event.label for event in batch.events()] == ["spam", "spam"]


def test_no_record_is_no_frame() -> None:
    batch, dead = opened("json").decode(Records(b"", *[single_records([]).starts] * 4, "-"))
    assert (len(batch), dead) == (0, [])
