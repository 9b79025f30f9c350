"""CSV and TSV."""

import csv
import io

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from connectors.files.record_cutter import RecordCutter
from connectors.records import Origin
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Event, single_records
from streamlin.formats.csv_framing import CsvFraming
from streamlin.formats.csv_kernels import AFTER_QUOTE, QUOTE, UNCLOSED, cut_cells, cut_records
from streamlin.testing import check_batch
from tests.connectors.reading import payloads, read_file
from tests.formats.reading import error, events, framed, one_by_one, opened, read

COMMA = ord(",")


def cut(data: bytes, final: bool = True) -> list[bytes]:
    starts, ends, consumed = CsvFraming(COMMA, header=False)(data, final)
    assert not final or consumed == len(data)
    return [data[start:end] for start, end in zip(starts, ends, strict=True)]


@pytest.mark.parametrize(
    ("data", "records"),
    [
        (b"", []),
        (b"\n\r\n\n", []),
        (b"a,b\nc,d", [b"a,b", b"c,d"]),
        (b"a,b\r\n\r\nc,d\r\n", [b"a,b", b"c,d"]),
        (b'"a\nb",c\nd', [b'"a\nb",c', b"d"]),
        (b'"a\r\nb","c\n"\r\nd', [b'"a\r\nb","c\n"', b"d"]),
        (b'a,"b""\n""c"\nd', [b'a,"b""\n""c"', b"d"]),
        (b'say "hi\nthere"\n', [b'say "hi', b'there"']),
        (b'"a"b"\nc\n', [b'"a"b"', b"c"]),
        (b'"a\nb\nc', [b'"a\nb\nc']),
        (b'\xef\xbb\xbf"a\nb"\nc', [b'\xef\xbb\xbf"a\nb"', b"c"]),
        (b'a\xef\xbb\xbf"\nb"\n', [b'a\xef\xbb\xbf"', b'b"']),
        ("a\u2028b\u0085c\rd\n".encode(), ["a\u2028b\u0085c\rd".encode()]),
        (b'""\n', [b'""']),
        (b"\xef\xbb\nx", [b"\xef\xbb", b"x"]),
    ],
)
def test_records_end_at_line_feeds_outside_quotes(data, records):
    assert cut(data) == records


mostly_csv = st.lists(st.sampled_from([b'"', b",", b"\n", b"\r", b"a", b"\xef\xbb\xbf", b"\xef", "é".encode()])).map(
    b"".join
)


@given(mostly_csv, st.lists(st.integers(1, 9), min_size=1))
def test_records_do_not_depend_on_where_a_stream_is_cut(data, sizes):
    """A source passes on complete records and keeps the rest: the records equal those of the whole stream."""
    framing = CsvFraming(COMMA, header=False)
    kept, at, records = b"", 0, []
    while at < len(data):
        size = sizes[at % len(sizes)]
        kept += data[at : at + size]
        at += size
        starts, ends, consumed = framing(kept, at >= len(data))
        records += [kept[start:end] for start, end in zip(starts, ends, strict=True)]
        kept = kept[consumed:]
    assert kept == b""
    assert records == cut(data)


@given(mostly_csv)
def test_uncompiled_kernels_give_the_same_result(data):
    """Uncompiled, indices are checked by numpy."""
    buffer = np.frombuffer(data, np.uint8)
    results = []
    for kernel in (cut_records, cut_records.py_func):
        starts, ends = np.zeros((2, data.count(b"\n")), np.int64)
        n, consumed = kernel(buffer, COMMA, starts, ends)
        results.append((n, consumed, starts.tolist(), ends.tolist()))
    assert results[0] == results[1]
    cells = []
    for kernel in (cut_cells, cut_cells.py_func):
        counts, begins, stops, doubled = (np.zeros(shape, np.int64) for shape in (1, (1, 3), (1, 3), (1, 3)))
        kernel(buffer, np.array([0]), np.array([len(data)]), COMMA, QUOTE, counts, begins, stops, doubled)
        cells.append([column.tolist() for column in (counts, begins, stops, doubled)])
    assert cells[0] == cells[1]


def rows_of(records: list[bytes], width: int) -> list[list[str] | int]:
    """The cells found by the kernel, or its error number."""
    lines = single_records(records)
    shape = len(records), width
    counts = np.zeros(len(records), np.int64)
    begins, stops, doubled = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
    buffer = np.frombuffer(lines.data, np.uint8)
    cut_cells(buffer, lines.starts, lines.ends, COMMA, QUOTE, counts, begins, stops, doubled)
    rows: list[list[str] | int] = []
    for i, count in enumerate(counts):
        cells = [lines.data[begins[i, j] : stops[i, j]].decode() for j in range(max(count, 0))]
        rows.append([cell.replace('""', '"') if doubled[i, j] else cell for j, cell in enumerate(cells)] or int(count))
    return rows


@given(
    st.lists(st.lists(st.text('",\r\n ab\0é\u2028'), min_size=1, max_size=4), max_size=5),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_cells_written_by_the_csv_module_are_read_back(table, quoting):
    written = io.StringIO()
    csv.writer(written, quoting=quoting, lineterminator="\r\n").writerows(table)
    assert rows_of(cut(written.getvalue().encode()), 4) == table


@pytest.mark.parametrize(
    ("record", "cells"),
    [
        (b"", [""]),
        (b",", ["", ""]),
        (b"a,", ["a", ""]),
        (b'"",""', ["", ""]),
        (b'""""', ['"']),
        (b'"a""b","c"', ['a"b', "c"]),
        (b'a"b""c,d', ['a"b""c', "d"]),
        (b' "a,b"', [' "a', 'b"']),
        (b"a\rb,c\nd", ["a\rb", "c\nd"]),
        (b'"', UNCLOSED),
        (b'a,"b', UNCLOSED),
        (b'"a""', UNCLOSED),
        (b'"a,b"",c', UNCLOSED),
        (b'"a"b,c', AFTER_QUOTE),
        (b'"a" ,c', AFTER_QUOTE),
        (b'x,"a"b"', AFTER_QUOTE),
    ],
)
def test_cells_by_hand(record, cells):
    assert rows_of([record], 4) == [cells]


def test_fields_by_column():
    data = (
        b'\xef\xbb\xbf"label",id,text,weight,time,lang\r\n'
        b'spam,1,"free, ""now""\n!",2,1970-01-01T00:01:00Z,en\r\n'
        b",,,,,\r\n"
        b"a\rb,x,\xc3\xa9,0,12.5,\r\n"
    )
    assert events(opened("csv", ["lang", "none"]), data) == [
        Event('free, "now"\n!', "spam", "1", 2.0, 60.0, {"lang": "en", "none": None}),
        Event("", extra={"lang": None, "none": None}),
        Event("é", "a\rb", "x", 0.0, 12.5, {"lang": None, "none": None}),
    ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"a", "1 cells, expected 4"),
        (b"a,b,1,2,", "5 cells, expected 4"),
        (b'"a"b,b,1,2', "a closing quote is not followed by a delimiter"),
        (b'a,"b,1,2\nc,d,1,2\n', "a quote is not closed"),
        (b"a,b,x,2", "weight is 'x', expected a number"),
        (b"a,b,nan,2", "weight is 'nan', expected a number"),
        (b"a,b,-1,2", "weight is -1, expected a number from 0 to 1e+09"),
        (b"a,b,1e999,2", "weight is inf, expected a number from 0 to 1e+09"),
        (b"a,b,1,soon", "time is 'soon', expected Unix seconds or RFC 3339"),
        (b"a,b,1,1e999", "time is out of range"),
        (b"a,b\xff,1,2", "not UTF-8: byte 0xff at position 3"),
        (b"a,b,1,2,\xff", "not UTF-8: byte 0xff at position 8"),
    ],
)
def test_what_is_wrong_with_a_record(record, message):
    assert error(opened("csv"), b"text,label,weight,time\n" + record).startswith(message)


def test_an_unclosed_quote_makes_the_rest_one_dead_letter():
    good, dead = read(opened("csv"), b'text\na\n"b\nc\nd\n')
    assert good == [Event("a")]
    assert dead == [(1, "a quote is not closed")]


def test_records_cut_inside_a_character_are_dead_letters():
    """Two records whose bytes are UTF-8 only when put together."""
    records = single_records([b"a\xc3", b"\xa9b"])
    records.data, records.starts, records.ends = b"a\xc3\xa9b", np.array([0, 2]), np.array([2, 4])
    batch, dead = opened("csv", options={"columns": "text"}).decode(records)
    assert len(batch) == 0
    assert dead == [(0, "not UTF-8: byte 0xc3 at position 1"), (1, "not UTF-8: byte 0xa9 at position 0")]


def test_columns_name_the_cells_of_a_file_without_header():
    format_ = opened("csv", options={"columns": "label, text"})
    assert events(format_, b"spam,free\nham,hello\n") == [Event("free", "spam"), Event("hello", "ham")]


def test_columns_with_header_true_skips_the_header():
    format_ = opened("csv", options={"columns": "label,text", "header": "true"})
    assert format_.framing.header
    assert events(format_, b"Class,Message\nspam,free\n") == [Event("free", "spam")]


@pytest.mark.parametrize("delimiter", ["tab", r"\t", "\t"])
def test_tab_delimiter(delimiter):
    data = b'text\tlabel\n"a\tb"\tx,y\n'
    assert events(opened("csv", options={"delimiter": delimiter}), data) == [Event("a\tb", "x,y")]
    assert events(opened("tsv", options={"quotes": "true"}), data) == [Event("a\tb", "x,y")]


def test_csv_and_tsv_accept_other_delimiters():
    assert events(opened("tsv", options={"delimiter": ";"}), b"text;label\na,b;c\n") == [Event("a,b", "c")]


def test_configured_names_and_several_text_fields():
    format_ = opened("csv", text=["title", "body"], label="class", id="no")
    batch, _ = format_.decode(framed(format_, b"no,class,body,title\n1,x,b,t\n2,,,\n"))
    assert batch.texts == ["t", "b", "", ""]
    assert batch.pieces.tolist() == [0, 2, 4]
    assert batch.labels == ["x", None]
    assert batch.ids == ["1", "2"]
    check_batch(batch)


def test_a_header_for_each_part():
    format_ = opened("csv")
    assert events(format_, b"text,label\na,b\n") == [Event("a", "b")]
    assert events(format_, b"label,text\na,b\n") == [Event("b", "a")]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"txt,label", "no column 'text' in the header of part (txt, label); set fields.text to one"),
        (b"Text;Label", "the header of part is one cell, 'Text;Label'; its delimiter seems to be ';': add the option"),
        (b"text,a,a", "column 'a' occurs twice in the header of part"),
        (b'text,"a"b', "the header of part can't be read: a closing quote is not followed by a delimiter"),
        (b'text,"a', "the header of part can't be read: a quote is not closed"),
        (b"text,\xff", "the header of part can't be read: not UTF-8: byte 0xff at position 5"),
    ],
)
def test_invalid_headers_are_refused(header, message):
    format_ = opened("csv")
    records = single_records([b"a,b"], "part")
    records.header = header
    with pytest.raises(ConfigError) as caught:
        format_.decode(records)
    assert str(caught.value).startswith(message)


def test_columns_without_a_name_are_ignored():
    assert events(opened("csv"), b",text,,\n0,a,,\n") == [Event("a")]


def test_messages_have_no_header():
    with pytest.raises(ConfigError, match=r"topic/0 has no header line; name its columns by columns=a,b,c"):
        opened("csv").decode(single_records([b"a,b"], "topic/0"))


def test_encode():
    format_ = opened("csv", ["lang"])
    assert format_.encode_header() == b"text,label,id,weight,time,lang"
    event = Event('a,"b"\n', "x\ry", None, 2.0, 1.5, {"lang": None})
    assert format_.encode(event) == b'"a,""b""\n","x\ry",,2.0,1.5,'
    assert opened("csv", options={"columns": "text"}).encode(Event("")) == b'""'
    assert opened("csv", options={"columns": "text,label"}).encode(Event("\ufeffa")) == '"\ufeffa",'.encode()


@pytest.mark.parametrize(
    ("options", "event", "message"),
    [
        ({"columns": "text"}, Event("a", "b"), "no column 'label' for 'b'; the columns are text"),
        ({}, Event("a", extra={"x": "b"}), "no column 'x' for 'b'"),
        ({}, Event("\ud800"), r"'\\ud800' at position 0 can't be encoded as UTF-8"),
        ({}, Event("a", weight=-1.0), "csv can't hold this event"),
        ({}, Event("a", time=np.inf), "csv can't hold this event"),
    ],
)
def test_csv_refuses_events_it_can_not_represent(options, event, message):
    with pytest.raises(RecordError, match=message):
        opened("csv", options=options).encode(event)


def test_a_text_with_too_few_lines_for_the_text_columns():
    format_ = opened("csv", text=["title", "body"])
    assert format_.encode(Event("t\nb\nb")).startswith(b't,"b\nb",')
    with pytest.raises(RecordError, match="can't hold"):
        format_.encode(Event("t"))


@given(mostly_csv)
@example(b'\xef\xbb\xbf"a\nb"')
def test_any_bytes_decode_alike_in_batches_and_singly(data):
    format_ = opened("csv", options={"columns": "text,label"})
    records = framed(format_, data)
    batch, dead = format_.decode(records)
    check_batch(batch)
    assert (batch.events(), dead) == one_by_one(format_, records)
    assert len(batch) + len(dead) == len(records)


def test_an_incomplete_header_is_a_dead_letter():
    """The source returns the incomplete header as a damaged record, and no header."""
    broken = single_records([b"text,lab"])
    broken.errors = {0: "cut off"}
    batch, dead = opened("csv").decode(broken)
    assert batch.events() == []
    assert dead == [(0, "cut off")]


def test_a_quoted_cell_of_many_lines_is_named_once(tmp_path):
    """With the place where it opens; a quote that is doubled, and cells that close earlier, are none."""
    short = b'"a ""quote""\n' + b"line\n" * 90 + b'",x\n'
    path, said = tmp_path / "mail.csv", []
    path.write_bytes(short * 3 + b'win,"half open\n' + b"row,x\n" * 300)
    read_file(path, framing=CsvFraming(COMMA, header=False), notice=said.append)
    (line,) = said
    assert line.startswith(f"{path}:{len(short) * 3 + 4}: the quoted cell that opens here holds more than 100 lines")
    assert "quotes=false" in line
    path.write_bytes(short * 3)
    read_file(path, framing=CsvFraming(COMMA, header=False), notice=said.append)
    assert len(said) == 1


def test_a_quoted_cell_of_many_lines_is_named_before_it_closes(tmp_path):
    """A followed file may wait for the closing quote for ever."""
    said = []
    cutter = RecordCutter(Origin("mail.csv", "key"), CsvFraming(COMMA, header=False), 10_000, notice=said.append)
    assert payloads(cutter.feed(b'x,"open\n' + b"row,x\n" * 60)) == []
    assert said == []
    cutter.feed(b"row,x\n" * 60)
    assert said[0].startswith("mail.csv:2: the quoted cell")
