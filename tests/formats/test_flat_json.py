"""Flat objects, which a kernel reads, give the same events and errors as any others, which msgspec reads."""

from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamlin.config import FieldsConfig
from streamlin.events import single_records
from streamlin.formats import open_format
from streamlin.formats.flat_columns import FEWEST, FIRST, IF_KEPT
from streamlin.kernel.byte_buffers import Utf8Texts

FLAT = open_format("json", {}, FieldsConfig(), ("more",))
ANY = open_format("json", {}, FieldsConfig(), ("more", "else.where"))
"""A nested field is read by msgspec alone, so this one reads everything with it."""
for one in (FLAT, ANY):
    one.read_times_in(1000.0)
    one.decode(single_records([b'{"text": "%s"}' % (b"a" * FIRST)]))

TEXTS = ["a b", "", "é", "😀 x", r"x\u00e9\ud83d\ude00", r"\ud800", r"\ud800\u0041", r"tab\t", r"\\", r"\q"]
TEXTS += [r"\u12", r"\u12g4", r"q\"r"]
VALUES = ['"spam"', '""', '"a" "b"', "", "null", "nul", "true", "false", "truth", "[]", "[1]", "{}", '{"text": "b"}']
VALUES += ["3", "-5", "-0", "01", "1.0", "1.", "1e3", "1e999", "1" * 18, "1" * 19, "9" * 19, "-" + "9" * 19, "1" * 400]
VALUES += ["-", "+1", ".5", "NaN", "0.1", "-0.0", "0.30000000000000004", "123456789012345.6", "1." + "0" * 30, "1.50"]
VALUES += ['[[1, "]"], {}]', '{"text": {"text": "b"}, "id": [2]}', "[1,]", '{"a": 1,}', "[1}", '["\\ud800"]']
KEYS = ["text", "label", "id", "weight", "time", "more", "other", "tex", "texts", "", "é", r"\u0074ext", r"i\u0064"]
BLANKS = ["", "", " ", "\t", "\r", "\n", "\u00a0", "\ufeff", "\0", "\x01"]

value = st.one_of(
    st.sampled_from(VALUES),
    st.sampled_from(TEXTS).map('"{}"'.format),
    st.text(max_size=9).map('"{}"'.format),
)
member = st.one_of(
    st.sampled_from(TEXTS).map('"text": "{}"'.format),
    st.tuples(st.sampled_from(BLANKS), st.sampled_from(KEYS), st.sampled_from(BLANKS), value).map(
        lambda parts: '{}"{}"{}:{}'.format(*parts)
    ),
)
members = st.lists(member, max_size=5).map(", ".join)
record = st.tuples(st.sampled_from(BLANKS), members, st.sampled_from([*BLANKS, ",", "}", "]", '"'])).map(
    lambda parts: '{}{{"text": "w1 w2", {}}}{}'.format(*parts).replace(", }", "}").encode("utf-8", "surrogatepass")
)
broken = st.tuples(record, st.integers(0), st.binary(max_size=2)).map(
    lambda parts: parts[0][: parts[1] % len(parts[0])] + parts[2] + parts[0][parts[1] % len(parts[0]) + 1 :]
)

LONG = b'{"text": "%s", "id": "0"}' % (b"w " * FEWEST)


def read(format_, records: Iterable[bytes]):
    """Everything that a format says of records, behind one so long that flat ones are read at all."""
    batch, dead = format_.decode(single_records([LONG, *records]))
    columns = (batch.ids, batch.texts, batch.labels, batch.weights, batch.times.astype(str), batch.kept, batch.keys())
    return [list(column) for column in (*columns, batch.extra["more"])], dead


@settings(max_examples=600, deadline=None)
@given(st.lists(st.one_of(record, record, broken, st.binary(max_size=9)), max_size=4))
@example([b'{"text": "a", "label": "x", "label": null}'])
@example([b'{"text": "a", "label": null, "label": "x"}'])
@example([b'{"text": "a", "id": 1, "id": [2]}'])
@example([b'{"text": "a"} {"text": "b"}'])
@example([b"{" + b'"text": "a", "other": ' + b"[" * 5000 + b"]" * 5000 + b"}"])
@example([b'{"text": "\xed\xa0\x80"}', b'{"text": "a\xff"}', b'{"other": "\xff", "text": "b"}'])
def test_flat_objects_are_read_as_any_others(records) -> None:
    assert read(FLAT, records) == read(ANY, records)


@pytest.mark.parametrize("size", range(26))
@pytest.mark.parametrize("inside", ["", '"', "\\", "\x1f", " ", "\x7f", "é", r"\n", r"\"", r"\u00e9"])
def test_a_text_ends_at_its_quote_wherever_it_stands(size, inside) -> None:
    """Texts are searched eight bytes at a time."""
    text = "a" * size + inside
    records = [b'{"text": "%s"}' % text.encode(), b'{"text":"%sbc","id":7}' % text.encode()]
    assert read(FLAT, records) == read(ANY, records)


def test_the_first_records_are_left_to_msgspec() -> None:
    one, record = open_format("json", {}, FieldsConfig(), ()), b'{"text": "a b c d"}'
    counts = [IF_KEPT // 2 // len(record), FIRST // len(record)]
    decoded = [one.decode(single_records([record] * count))[0] for count in counts]
    assert [isinstance(batch.texts, Utf8Texts) for batch in decoded] == [False, True]


def test_flat_objects_are_read_without_an_object_each() -> None:
    lines = [b'{"id": "%d", "text": "a \\"b\\" \\ud83d\\ude00", "label": "x"}' % i for i in range(1000)]
    batch, _ = FLAT.decode(single_records(lines))
    assert isinstance(batch.texts, Utf8Texts)
    assert isinstance(batch.ids, Utf8Texts)
    assert batch.texts == ['a "b" 😀'] * 1000
    assert batch.ids == [str(i) for i in range(1000)]
    assert len({id(label) for label in batch.labels}) == 1


def test_numbers_as_ids_and_labels_are_their_digits() -> None:
    batch, _ = FLAT.decode(single_records([b'{"text": "a", "id": 12, "label": -3}'] * 1000))
    assert isinstance(batch.ids, Utf8Texts)
    assert (batch.ids, batch.labels) == (["12"] * 1000, ["-3"] * 1000)


def test_weights_times_and_further_fields_are_columns() -> None:
    line = b'{"text": "a", "weight": 0.25, "time": 1700000000123, "more": "en", "user": 1234567890123456789}'
    batch, _ = FLAT.decode(single_records([line] * 1000))
    assert isinstance(batch.texts, Utf8Texts)
    assert set(batch.weights) == {0.25}
    assert set(batch.times) == {1_700_000_000.123}
    assert batch.extra == {"more": ["en"] * 1000}


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**15), st.integers(0, 16), st.sampled_from(["", "-"])), max_size=9))
def test_decimals_are_the_nearest_floats(parts) -> None:
    """Whether there are too many digits or not."""
    written = [f"{sign}{digits / 10**15:.{places}f}" for digits, places, sign in parts]
    records = [f'{{"text": "a", "time": {number}}}'.encode() for number in written if number != "-0"]
    assert read(FLAT, records) == read(ANY, records)
