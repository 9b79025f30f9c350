"""Records do not depend on how a stream is cut into blocks."""

import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.files.oversized_record import KEPT_BYTES
from connectors.files.record_cutter import RecordCutter
from connectors.records import Origin
from streamlin.events import Framing
from streamlin.formats.csv_framing import CsvFraming
from streamlin.formats.framing import Lines
from tests.connectors.reading import HeaderLines, errors, expected_lines, payloads

ORIGIN = Origin("shown", "key", {"device": 1, "inode": 2})
LONG = 10_000_000
CSV = CsvFraming(ord(","), header=False)

content = (
    st.lists(st.sampled_from([b"a", b"b,", b",", b'"', b"\n", b"\r", b"\r\n", b"\xff", b"0" * 9, bytes(5)]))
    .map(b"".join)
    .filter(lambda data: b"\n" in data or b"\r" not in data)
)  # an error, see test_first_bytes
cuts = st.lists(st.integers(1, 40), min_size=1, max_size=8)


def blocks(data: bytes, sizes: list[int]) -> list[bytes]:
    """`data` in blocks of the given sizes, repeated."""
    found, at, turn = [], 0, 0
    while at < len(data):
        found.append(data[at : at + sizes[turn % len(sizes)]])
        at, turn = at + sizes[turn % len(sizes)], turn + 1
    return found


def cut(data: bytes, sizes: list[int], framing: Framing, longest: int = LONG, **kwargs):
    cutter = RecordCutter(ORIGIN, framing, longest, **kwargs)
    found = [records for block in blocks(data, sizes) for records in cutter.feed(block)]
    return found + cutter.finish()


def summary(found):
    """Each record with its offset, error and header."""
    return [
        (records[i], int(records.offsets[i]), records.errors.get(i), records.header)
        for records in found
        for i in range(len(records))
    ]


@given(content, cuts)
def test_lines_equal_those_of_bytes_split(data, sizes):
    assert payloads(cut(data, sizes, Lines())) == expected_lines(data)


@given(
    content,
    cuts,
    st.sampled_from([3, 10, 17]),
    st.sampled_from([Lines(), HeaderLines(), CSV, CsvFraming(ord(","), header=True)]),
)
def test_records_do_not_depend_on_the_blocks(data, sizes, longest, framing):
    """Including oversized records, the header, and the lengths in errors."""
    assert summary(cut(data, sizes, framing, longest)) == summary(cut(data, [len(data) + 1], framing, longest))


@given(content, cuts, st.sampled_from([3, 10, LONG]))
def test_offsets_and_bytes_before_positions_match_the_data(data, sizes, longest):
    for records in cut(data, sizes, Lines(), longest):
        for i in range(len(records)):
            offset = int(records.offsets[i])
            assert data[offset : offset + len(records[i])] == records[i]
            position = records.position(i + 1)
            following = position["offset"]
            assert expected_lines(data[:following])[-1].startswith(records[i])
            assert bytes.fromhex(position["before"]) == data[max(0, following - 64) : following]
            assert {"device": 1, "inode": 2}.items() <= position.items()


@given(content, cuts, cuts, st.data(), st.sampled_from([3, 10, LONG]))
def test_resuming_at_a_position_gives_exactly_the_rest(data, sizes, other_sizes, draw, longest):
    whole = [
        (records.between(i, i + 1), records.position(i + 1))
        for records in cut(data, sizes, Lines(), longest)
        for i in range(len(records))
    ]
    done = draw.draw(st.integers(0, len(whole)))
    offset, before = 0, b""
    if done:
        offset, before = whole[done - 1][1]["offset"], bytes.fromhex(whole[done - 1][1]["before"])
    rest = cut(data[offset:], other_sizes, Lines(), longest, offset=offset, before=before)
    assert summary(rest) == summary([records for records, _ in whole[done:]])


@pytest.mark.parametrize("framing", [Lines(), CSV])
def test_an_oversized_record_is_cut_to_its_beginning(framing):
    data = b"first\n" + b"0123456789" * 20_000 + b"\nlast\n"
    found = cut(data, [1000], framing, longest=1000)
    assert payloads(found) == [b"first", (b"0123456789" * 20_000)[:KEPT_BYTES], b"last"]
    assert errors(found) == ["record of 200000 bytes is over max_record_bytes = 1000"]
    assert [i for records in found for i in records.offsets.tolist()] == [0, 6, 200_007]


def test_a_record_of_the_maximum_length_is_complete():
    data = b"x" * 100_000 + b"\r\n" + b"y" * 100_001 + b"\n"
    found = cut(data, [999], Lines(), longest=100_000)
    assert payloads(found) == [b"x" * 100_000, b"y" * KEPT_BYTES]
    assert errors(found) == ["record of 100001 bytes is over max_record_bytes = 100000"]


def test_quoted_line_feeds_do_not_end_an_oversized_record():
    """Ten thousand quoted line feeds, doubled quotes among them, then an ordinary record."""
    field = b'"' + b'line ""quoted"", more\n' * 10_000 + b'"'
    data = b"a,b\n" + field + b",x\n" + b"c,d\n"
    for size in (7, 4096, 100_000):
        found = cut(data, [size], CSV, longest=5000)
        assert payloads(found) == [b"a,b", field[:KEPT_BYTES], b"c,d"]
        assert errors(found) == [f"record of {len(field) + 2} bytes is over max_record_bytes = 5000"]


def test_an_unclosed_quote_makes_the_rest_one_record():
    data = b'a\n"' + b"open\n" * 5000
    found = cut(data, [512], CSV, longest=1000)
    assert [len(payload) for payload in payloads(found)] == [1, 25_001]
    assert errors(found) == ["record of 25001 bytes is over max_record_bytes = 1000"]


def test_an_oversized_record_of_quotes():
    """100,001 quotes leave one open, so the line feed after them is quoted; wherever the blocks are cut."""
    data = b'"' * 100_001 + b'\ninside"\nafter\n'
    found = cut(data, [5000], CSV, longest=1000)
    assert [len(payload) for payload in payloads(found)] == [KEPT_BYTES, 5]
    assert errors(found) == ["record of 100009 bytes is over max_record_bytes = 1000"]


def test_a_header_is_kept_with_all_records():
    found = cut(b"name,value\na,1\nb,2\n", [3], HeaderLines())
    assert payloads(found) == [b"a,1", b"b,2"]
    assert {records.header for records in found} == {b"name,value"}
    assert found[0].name(0) == "shown:11"
    assert payloads(cut(b"name,value", [3], HeaderLines())) == []


def test_an_oversized_header_is_not_used():
    for sizes in ([1], [100]):
        found = cut(b"name,value\na,1\n", sizes, HeaderLines(), longest=5)
        assert payloads(found) == [b"name,value", b"a,1"]
        assert {records.header for records in found} == {None}
        assert errors(found) == ["record of 10 bytes is over max_record_bytes = 5"]


def test_breaking_off_returns_the_incomplete_record():
    cutter = RecordCutter(ORIGIN, Lines(), LONG)
    (whole,) = cutter.feed(b"whole\nhal")
    (broken,) = cutter.break_off("cut off", damaged=9)
    assert (payloads([whole]), payloads([broken]), errors([broken])) == ([b"whole"], [b"hal"], ["cut off"])
    assert broken.position(1) == {
        "offset": 6,
        "device": 1,
        "inode": 2,
        "before": b"whole\n".hex(),
        "damaged": 9,
        "error": "cut off",
    }
    assert cutter.finish() == []


def test_breaking_off_inside_an_oversized_record():
    cutter = RecordCutter(ORIGIN, Lines(), 10)
    assert cutter.feed(b"x" * 30) == []
    (broken,) = cutter.break_off("cut off", damaged=30)
    assert (broken[0], broken.errors, broken.position(1)["offset"]) == (b"x" * 30, {0: "cut off"}, 0)


def test_a_record_of_100_megabytes_is_not_kept_in_memory():
    block = b"x" * 1_000_000
    cutter = RecordCutter(ORIGIN, Lines(), 2_000_000)
    tracemalloc.start()
    found = [records for _ in range(100) for records in cutter.feed(block)] + cutter.feed(b"\nlast\n")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [len(payload) for payload in payloads(found)] == [KEPT_BYTES, 4]
    assert re.search("record of 100000000 bytes", errors(found)[0])
    assert peak < 20_000_000
