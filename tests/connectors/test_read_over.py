"""NULs and byte order marks before records."""

import gzip
import os
import tracemalloc

import pytest

from connectors.files import FileSource
from connectors.kafka.messages import from_lists
from streamlin.formats.csv_framing import CsvFraming
from tests.connectors.reading import HeaderLines, await_payloads, context, payloads, read_file
from tests.formats.reading import opened

BOM = b"\xef\xbb\xbf"
FORMATS = [
    ("json", {}, b'{"text": "win", "label": "spam"}'),
    ("csv", {"columns": "label,text"}, b'"spam",win'),
    ("tsv", {"columns": "label,text"}, b"spam\twin"),
    ("vw", {}, b"spam | win"),
    ("fasttext", {}, b"__label__spam win"),
    ("regex", {"pattern": "(?P<label>[a-z]+) (?P<text>.*)"}, b"spam win"),
]


@pytest.mark.parametrize("before", [BOM, bytes(2), bytes(9) + BOM + bytes(1)])
@pytest.mark.parametrize(("name", "options", "record"), FORMATS)
def test_marks_and_nuls_before_any_record_are_read_over(name, options, record, before, tmp_path):
    """Three NULs before a message may be a schema registry's frame."""
    format_, path = opened(name, options=options), tmp_path / "a"
    path.write_bytes(record + b"\n" + (before + record + b"\r\n") * 2 + record)
    found = read_file(path, framing=format_.framing)
    assert payloads(found) == [record] * 4
    batch, dead = format_.decode(from_lists("topic", 0, range(3), [record, before + record, before + record], 1000))
    assert [(event.text, event.label) for event in batch.events()] == [("win", "spam")] * 3
    assert dead == []


def test_a_hole_of_nuls_is_counted_and_takes_no_memory(tmp_path):
    path, notices = tmp_path / "app.log", []
    path.touch()
    os.truncate(path, 200_000_000)
    with path.open("ab") as file:
        file.write(b"first\nsecond\n")
    tracemalloc.start()
    found = read_file(path, notice=notices.append, longest=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert payloads(found) == [b"first", b"second"]
    assert found[0].offsets.tolist() == [200_000_000, 200_000_006]
    assert notices == [f"{path}: 200,000,000 NUL bytes before a record were read over"]
    assert peak < 5_000_000


def test_a_hole_of_nuls_in_a_followed_file_is_read_over(tmp_path):
    path, notices = tmp_path / "app.log", []
    path.write_bytes(b"before\n")
    source = FileSource(str(path), context(follow=True, notice=notices.append))
    assert await_payloads(source, 1) == [b"before"]
    with path.open("ab") as file:
        file.write(bytes(1_000_000) + b"after\n")
    assert await_payloads(source, 1) == [b"after"]
    assert source.poll(1) == []
    with path.open("ab") as file:
        file.write(bytes(10) + b"last\n")
    assert await_payloads(source, 1) == [b"last"]
    source.close()
    assert notices == [f"{path}: 1,000,000 NUL bytes before a record were read over"]


def test_a_quote_behind_nuls_opens_a_cell(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + bytes(7) + b'"two\nlines",c\n')
    assert payloads(read_file(path, framing=CsvFraming(ord(","), header=False))) == [b"a,b", b'"two\nlines",c']


def test_a_mark_before_the_header_is_no_part_of_it(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(BOM + b"text,label\na,b\n") + gzip.compress(BOM + b"c,d\n"))
    found = read_file(path, framing=HeaderLines())
    assert found[0].header == b"text,label"
    assert payloads(found) == [b"a,b", b"c,d"]
