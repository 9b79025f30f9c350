"""JSON lines."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Event, single_records
from streamlin.formats import open_format
from streamlin.testing import check_batch
from tests.formats.reading import error, events, framed, one_by_one, opened, part_of, read

STREAMS = [
    "clickbait",
    "clinc150",
    "langid-ud",
    "log-bgl-2k",
    "log-thunderbird-2k",
    "pp-attachment",
    "reuters-acq",
    "reuters-topics",
    "rt-polarity",
    "sms-spam",
    "spamassassin",
    "subjectivity",
    "thucnews-titles-zh",
    "trec-6",
    "tweet-emoji",
]


@pytest.fixture(scope="module")
def plain_json():
    return opened("json")


def test_all_fields():
    line = b'{"time":1.5,"weight":2,"id":7,"label":"spam","more":[1],"text":"free","lang":"en"}'
    assert events(opened("json", ["lang", "more", "none"]), line) == [
        Event("free", "spam", "7", 2.0, 1.5, {"lang": "en", "more": "[1]", "none": None})
    ]


SEVERAL = "a part of JSON that has several lines, expected one object a line"
PARTS = (
    *(
        b"[",
        b"{",
        b"]",
        b"}",
        b"},",
        b"  }",
        b"[{",
        b'  "text": "a",',
        b'  "text": "a"',
        b'"x": {',
        b'"x": [1,',
        b'"a",',
        b"1,",
    ),
    *(b'{"text":"a"},', b'[{"text":"a"},', b'{"text":"a"}]', b"},{"),
)
"""Lines of pretty-printed objects and of arrays."""


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ('"a"', "a"),
        ("42", "42"),
        ("-7", "-7"),
        ("1.5", "1.5"),
        ("1.0", "1"),
        ("1e3", "1000"),
        ("0", "0"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("null", None),
        ('""', None),
        ('"\\u00e9\\ud83d\\ude00"', "é😀"),
        ('" "', " "),
    ],
)
def test_labels_and_ids_are_texts(plain_json, label, expected):
    (event,) = events(plain_json, f'{{"text":"x","label":{label},"id":{label}}}'.encode())
    assert (event.label, event.id) == (expected, expected)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"[1]", "expected a JSON object, got array"),
        (b"5", "expected a JSON object, got int"),
        (b"null", "expected a JSON object, got null"),
        (b'"x"', "expected a JSON object, got str"),
        (b"   ", "not JSON: the record is empty"),
        (b"hello", "not JSON: invalid character (byte 0)"),
        (b'{"text":"a"', "not JSON: it is cut off"),
        *((line, SEVERAL) for line in PARTS),
        (b'"{\\"text\\":\\"a\\"}"', "a JSON object that is encoded twice, as a text"),
        (b'"[{}]"', "expected a JSON object, got str"),
        (b'[{"text":"a"}]', "expected a JSON object, got array"),
        (b'{"text":"a"} {"text":"b"}', "not JSON: trailing characters"),
        (b'{"text":"a"}{', "not JSON: trailing characters"),
        (b'{"text":"a",}', "not JSON: trailing comma in object (byte 12)"),
        (b"{'text':'a'}", "not JSON: object keys must be strings (byte 1)"),
        (b'{"text":"a","weight":NaN}', "not JSON: invalid character (byte 21)"),
        (b'{"text":"a","weight":Infinity}', "not JSON: invalid character (byte 21)"),
        (b'{"text":"a\tb"}', "not JSON: invalid character (byte 10)"),
        (b'{"text":"a\x00b"}', "not JSON: invalid character (byte 10)"),
        (b'{"text":"a","other":"\x1b"}', "not JSON: invalid character (byte 21)"),
        (b'{"text":"\\ud800"}', "not JSON: half of a surrogate pair"),
        (b'{"text":"\\ud800 and so on"}', "not JSON: half of a surrogate pair"),
        (b'{"text":"\\ude00\\ud83d"}', "not JSON: half of a surrogate pair"),
        (b'{"text":"a","other":"\\udfff"}', "not JSON: half of a surrogate pair"),
        (b'{"text":"a","other":"\\\\ud800', "not JSON: it is cut off"),
        (b"{}", "field 'text' is missing"),
        (b'{"id":"1","label":"spam"}', "field 'text' is missing"),
        (b'{"text":null}', "text is of type null, expected str"),
        (b'{"text":5}', "text is of type int, expected str"),
        (b'{"text":["a"]}', "text is of type array, expected str"),
        (b'{"text":"a","label":true}', "label is of type bool, expected int or float or str or null"),
        (b'{"text":"a","label":{}}', "label is of type object, expected int or float or str or null"),
        (b'{"text":"a","id":[1]}', "id is of type array, expected int or float or str or null"),
        (b'{"text":"a","weight":"1"}', "weight is of type str, expected float or null"),
        (b'{"text":"a","weight":true}', "weight is of type bool, expected float or null"),
        (b'{"text":"a","weight":-1}', "weight is -1, expected a number from 0 to 1e+09"),
        (b'{"text":"a","weight":1e400}', "Number out of range, field weight"),
        (b'{"text":"a","label":' + b"9" * 5000 + b"}", "Integer value out of range, field label"),
        (b'{"text":"a","time":true}', "time is of type bool, expected int or float or str or null"),
        (
            b'{"text":"a","time":"soon"}',
            "time is 'soon', expected Unix seconds or RFC 3339, such as 2024-05-01T12:00:00Z",
        ),
        (b'{"text":"a","time":"1117838570 s"}', "time is '1117838570 s', expected Unix seconds or RFC 3339"),
        (b'{"text":"a","time":' + b"9" * 400 + b"}", "time is out of range, expected Unix seconds"),
        (b'{"text":"\xff"}', "not UTF-8: byte 0xff at position 9"),
        (b'{"text":"a","other":"\xff"}', "not UTF-8: byte 0xff at position 21"),
        (b'{"text":"a","\xc3":1}', "not UTF-8: byte 0xc3 at position 13"),
        (b'{"text":"\xed\xa0\x80"}', "not UTF-8: byte 0xed at position 9"),
        (b'{"text":"a","other":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "the JSON is nested too deeply"),
    ],
)
def test_what_is_wrong_with_a_record(plain_json, record, message):
    assert error(plain_json, record).startswith(message)


@pytest.mark.parametrize(
    ("record", "event"),
    [
        (b'{"text":""}', Event("")),
        (b' {"text" : "a" } ', Event("a")),
        (b'{"text":"1","text":"2","label":"x","label":"y"}', Event("2", "y")),
        (b'{"text":5,"text":"a"}', Event("a")),
        (b'{"te\\u0078t":"a"}', Event("a")),
        ('{"text":"a\u2028b\u0085c\x7f"}'.encode(), Event("a\u2028b\u0085c\x7f")),
        (b'{"text":"\\u0000\\n"}', Event("\0\n")),
        (b'{"text":"a","other":1e400}', Event("a")),
        (b'{"text":"a","weight":null,"time":null,"id":null}', Event("a")),
        (b'{"text":"a","weight":0,"time":""}', Event("a", weight=0.0)),
        (b'{"text":"a","time":12345678901234567890123}', Event("a", time=12345678901234567890123.0)),
        (b'{"text":"a","time":"1970-01-01T00:01:00Z"}', Event("a", time=60.0)),
        (b'{"text":"a","other":{"text":5}}', Event("a")),
    ],
)
def test_unusual_but_valid_records(plain_json, record, event):
    assert events(plain_json, record) == [event]


def test_lines_end_at_line_feeds_and_empty_ones_are_skipped(plain_json):
    data = b'\n{"text":"a"}\r\n\r\n\n{"text":"b"}\n{"text":"c"}'
    assert [event.text for event in events(plain_json, data)] == ["a", "b", "c"]


def test_a_byte_order_mark_is_skipped_before_every_record(plain_json):
    line = b'\xef\xbb\xbf{"text":"a"}\n'
    good, dead = read(plain_json, line + line)
    assert good == [Event("a"), Event("a")]
    assert dead == []


def test_a_message_may_hold_line_feeds(plain_json):
    records = single_records([b'{\n"text":\r\n"a"\n}', b'{"text":"b"}\n{"text":"c"}', b"", b'{"text":"d"}'])
    batch, dead = plain_json.decode(records)
    assert batch.texts == ["a", "d"]
    assert batch.kept.tolist() == [0, 3]
    assert [letter.record for letter in dead] == [1, 2]


@pytest.mark.parametrize(
    "records",
    [
        [b'{"text":"a"} {"text":"b","x":{}', b'{"y":1}}'],
        [b'{"text":"a"} {"text":"b","x":', b"{}}"],
        [b'{"text":"a"}{"text":"b"}', b" "],
        [b'{"text":"a"', b',"label":"b"}'],
        [b'{"text":"a"}{"text":"b"}', b'{"text":"c"'],
        [b'{"text":"{}', b'{}"}'],
    ],
)
def test_values_that_span_records_are_dead_letters(plain_json, records):
    """There are as many values as records, but no record is a value."""
    batch, dead = plain_json.decode(single_records(records))
    assert len(batch) == 0
    assert [letter.record for letter in dead] == [0, 1]


def test_records_with_an_error_are_not_decoded(plain_json):
    records = single_records([b'{"text":"a"}', b'{"text":"b"}', b'{"te', b'{"text":"d"}'])
    records.errors = {1: "too long"}
    batch, dead = plain_json.decode(records)
    assert batch.texts == ["a", "d"]
    assert dead == [(1, "too long"), (2, "not JSON: it is cut off")]


def test_no_records(plain_json):
    batch, dead = plain_json.decode(single_records([]))
    assert (len(batch), dead) == (0, [])
    check_batch(batch)


def test_nested_fields_and_names_of_any_kind():
    format_ = opened("json", ["meta.tags.first", "a b"], text="doc.body text", label="meta.class", id="doc.@id")
    line = b'{"doc":{"body text":"x","@id":3},"meta":{"class":"c","tags":{"first":true}},"a b":1.5}'
    assert events(format_, line) == [Event("x", "c", "3", extra={"meta.tags.first": "true", "a b": "1.5"})]


@pytest.mark.parametrize("meta", ["", ',"meta":null', ',"meta":{}', ',"meta":{"class":null,"tags":null}'])
def test_a_field_of_a_missing_object_is_missing(meta):
    format_ = opened("json", ["meta.tags.first"], label="meta.class")
    assert events(format_, f'{{"text":"x"{meta}}}'.encode()) == [Event("x", extra={"meta.tags.first": None})]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"{}", "field 'doc.text' is missing"),
        (b'{"doc":{}}', "field 'doc.text' is missing"),
        (b'{"doc":null}', "field 'doc.text' is missing"),
        (b'{"doc":5}', "doc is of type int, expected object or null"),
        (b'{"doc":{"text":"x"},"meta":5}', "meta is of type int, expected object or null"),
        (
            b'{"doc":{"text":"x"},"meta":{"class":[]}}',
            "meta.class is of type array, expected int or float or str or null",
        ),
    ],
)
def test_errors_in_nested_fields(record, message):
    assert error(opened("json", text="doc.text", label="meta.class"), record) == message


def test_several_text_fields_are_pieces_in_the_order_configured():
    format_ = opened("json", text=["subject", "mail.body"])
    lines = [
        b'{"mail":{"body":"b"},"subject":"s"}',
        b'{"subject":"s"}',
        b'{"subject":null,"mail":{"body":""}}',
        b'{"subject":null,"mail":null}',
        b'{"subject":"s","mail":{"body":5}}',
        b'{"subject":"s","mail":{"body":"b"}}',
    ]
    batch, dead = format_.decode(framed(format_, b"\n".join(lines)))
    assert batch.texts == ["s", "b", "s", "", "s", "b"]
    assert batch.pieces.tolist() == [0, 2, 3, 4, 6]
    assert batch.kept.tolist() == [0, 1, 2, 5]
    assert dead == [
        (3, "all of subject, mail.body are missing"),
        (4, "mail.body is of type int, expected str or null"),
    ]


def test_further_fields_are_texts():
    values = [
        '"t"',
        '""',
        "1",
        "1.5",
        "true",
        "false",
        "null",
        '[1,"a",null]',
        '{"k":{"l":1e3}}',
        "18446744073709551616",
    ]
    data = "\n".join(f'{{"text":"a","x":{value}}}' for value in values)
    expected = [
        "t",
        "",
        "1",
        "1.5",
        "true",
        "false",
        None,
        '[1,"a",null]',
        '{"k":{"l":1000.0}}',
        "18446744073709551616",
    ]
    assert [event.extra["x"] for event in events(opened("json", ["x"]), data.encode())] == expected


def test_a_further_field_may_be_the_label_or_the_text():
    format_ = opened("json", ["label", "text", "label"])
    assert events(format_, b'{"text":"a","label":1}') == [Event("a", "1", extra={"label": "1", "text": "a"})]


@pytest.mark.parametrize(
    ("extra", "fields", "message"),
    [
        ([], {"label": "text"}, "'text' is used twice"),
        ([], {"text": ["a", "a"]}, "'a' is used twice"),
        ([], {"label": "text.x"}, "'text' can't be both a value and the parent of 'text.x'"),
        (["meta"], {"label": "meta.class"}, "'meta' can't be both a value and the parent of 'meta.class'"),
        (["meta.class", "meta"], {}, "'meta' can't be both a value and the parent of other fields"),
        ([], {"label": ""}, "'' is not a path"),
        ([], {"label": "a..b"}, "'a..b' is not a path"),
        ([], {"label": ".a"}, "'.a' is not a path"),
    ],
)
def test_invalid_paths_are_refused(extra, fields, message):
    with pytest.raises(ConfigError) as caught:
        open_format("json", {}, FieldsConfig(**fields), extra)
    assert message in str(caught.value)


def test_encode():
    format_ = opened("json", label="meta.class", text=["subject", "body"])
    event = Event("s\nb\nb", "c", "1", 2.0, 1.5, {"meta.lang": "en", "none": None})
    assert json.loads(format_.encode(event)) == {
        "id": "1",
        "subject": "s",
        "body": "b\nb",
        "meta": {"class": "c", "lang": "en"},
        "weight": 2.0,
        "time": 1.5,
    }
    assert format_.encode(Event("s")) == b'{"subject":"s"}'


@pytest.mark.parametrize(
    "event",
    [
        Event("\ud800"),
        Event("a", label="\udfff"),
        Event("a", weight=np.nan),
        Event("a", weight=-1.0),
        Event("a", time=np.inf),
        Event("a", extra={"text.x": "b", "text": "c"}),
        Event("a", extra={"y": "c", "y.x": "b"}),
    ],
)
def test_json_refuses_events_it_can_not_represent(plain_json, event):
    with pytest.raises(RecordError):
        plain_json.encode(event)


@pytest.mark.parametrize("stream", STREAMS)
def test_a_real_stream_decodes_as_by_the_json_module(plain_json, data, stream):
    raw = gzip.decompress((data / f"{stream}.jsonl.gz").read_bytes())
    batch, dead = plain_json.decode(framed(plain_json, raw))
    assert dead == []
    expected = [json.loads(line) for line in raw.split(b"\n") if line]
    assert batch.texts == [event["text"] for event in expected]
    assert batch.labels == [event["label"] for event in expected]
    assert batch.ids == [event["id"] for event in expected]
    check_batch(batch)


@pytest.mark.parametrize("stream", STREAMS)
def test_a_real_stream_decodes_alike_record_by_record(data, stream):
    format_ = opened("json", ["split", "folder", "date", "cut", "r8", "template"])
    raw = gzip.decompress((data / f"{stream}.jsonl.gz").read_bytes())
    records = part_of(framed(format_, raw), 0, 500)
    batch, dead = format_.decode(records)
    assert (batch.events(), dead) == one_by_one(format_, records)


@pytest.mark.parametrize("stream", ["pos-ud-ewt", "pos-conll2000"])
def test_a_stream_without_texts_is_all_dead_letters(plain_json, data, stream):
    raw = gzip.decompress((data / f"{stream}.jsonl.gz").read_bytes())
    records = part_of(framed(plain_json, raw), 0, 1000)
    batch, dead = plain_json.decode(records)
    assert len(batch) == 0
    assert dead == [(i, "field 'text' is missing") for i in range(1000)]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["text", "label", "id", "weight", "time", "x", "y"]), values)
        | st.fixed_dictionaries({"text": st.text()}, optional={"label": st.text(), "x": values, "y": values}),
        max_size=12,
    ),
    st.booleans(),
)
def test_any_objects_decode_alike_in_batches_and_singly(objects, ascii_only):
    format_ = opened("json", ["x"])
    lines = [json.dumps(item, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") for item in objects]
    records = single_records(lines)
    batch, dead = format_.decode(records)
    check_batch(batch)
    assert (batch.events(), dead) == one_by_one(format_, records)
    assert len(batch) + len(dead) == len(records)
    for i, text in zip(batch.kept.tolist(), batch.texts, strict=True):
        assert text == objects[i]["text"]
