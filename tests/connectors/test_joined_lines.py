"""Lines that are joined to the first line before them."""

import gzip
import re

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from streamlin.errors import ConfigError
from streamlin.formats.joined_lines import JoinedLines, joined_lines
from tests.connectors.reading import payloads, positions_after, read_file
from tests.connectors.test_cutter import LONG, content, cut, cuts, summary
from tests.formats.reading import opened, read

TRACE = b"2024 one\n  at a\n  at b\n2024 two\n\n  at c\n2024 three\n"
JOINED = [b"2024 one\n  at a\n  at b", b"2024 two\n\n  at c", b"2024 three"]


def framing(pattern: str = r"\d", most: int = 1000, longest: int = LONG) -> JoinedLines:
    joined = JoinedLines(regex.compile(pattern), most)
    joined.longest = longest
    return joined


def by_hand(data: bytes, most: int, longest: int) -> list[bytes]:
    """The records of bytes without NULs, line by line; first lines begin with an `a`."""
    records: list[list[bytes]] = []
    for line in data.splitlines(keepends=True) if b"\r" not in data else re.findall(rb"[^\n]*\n|[^\n]+", data):
        last = records[-1] if records else []
        full = len(last) == most or len(b"".join([*last, line])) > longest
        if last and not full and not line.startswith(b"a"):
            last.append(line)
        elif line not in (b"\n", b"\r\n", b"\r"):
            records.append([line])
        elif last:
            records.append([])
    return [joined for record in records if (joined := re.sub(rb"(\r?\n)+$|\r$", b"", b"".join(record)))]


@given(content.map(lambda data: data.replace(b"\0", b"")), cuts, st.sampled_from([1, 2, 4]), st.sampled_from([9, LONG]))
def test_joined_lines_equal_those_by_hand(data, sizes, most, longest):
    found = cut(data, sizes, framing("a", most, longest), longest)
    assert [record[:longest] for record in payloads(found)] == [r[:longest] for r in by_hand(data, most, longest)]


@given(content, cuts, st.sampled_from([1, 2, 1000]), st.sampled_from([3, 10, 17, LONG]))
def test_joined_lines_do_not_depend_on_the_blocks(data, sizes, most, longest):
    joined = framing("a|0", most, longest)
    assert summary(cut(data, sizes, joined, longest)) == summary(cut(data, [len(data) + 1], joined, longest))


@given(content, cuts, cuts, st.data(), st.sampled_from([1, 2, 1000]), st.sampled_from([3, 10, LONG]))
def test_resuming_among_joined_lines_gives_exactly_the_rest(data, sizes, other_sizes, draw, most, longest):
    joined = framing("a|0", most, longest)
    whole = [
        (records.between(i, i + 1), records.position(i + 1))
        for records in cut(data, sizes, joined, longest)
        for i in range(len(records))
    ]
    done = draw.draw(st.integers(0, len(whole)))
    offset, before = 0, b""
    if done:
        offset, before = whole[done - 1][1]["offset"], bytes.fromhex(whole[done - 1][1]["before"])
    rest = cut(data[offset:], other_sizes, joined, longest, offset=offset, before=before)
    assert summary(rest) == summary([records for records, _ in whole[done:]])


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", bytes(3)])
def test_first_lines_are_known_behind_marks_and_before_carriage_returns(tmp_path, ends, mark):
    path = tmp_path / "app.log"
    path.write_bytes(TRACE.replace(b"2024", mark + b"2024").replace(b"\n", ends))
    found = read_file(path, framing=framing(r"\d+ \w+$"))
    assert [record.replace(b"\r\n", b"\n") for record in payloads(found)] == [
        joined.replace(b"2024", b"2024", 1) for joined in JOINED
    ]


def test_files_of_a_folder_are_joined_each_for_itself(tmp_path):
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(TRACE[:-1]))
    (tmp_path / "b.log").write_bytes(b"  at z\n" + TRACE)
    found = read_file(tmp_path, framing=framing())
    assert payloads(found) == [*JOINED, b"  at z", *JOINED]
    for done in range(1, 7):
        rest = read_file(tmp_path, framing=framing(), positions=positions_after(found, done))
        assert payloads(rest) == [*JOINED, b"  at z", *JOINED][done:]


def test_a_limit_that_ends_a_record_is_told_once(tmp_path):
    path, said = tmp_path / "app.log", []
    path.write_bytes(b"x\n" * 2500)
    found = read_file(path, framing=framing(), notice=said.append)
    assert [record.count(b"x") for record in payloads(found)] == [1000, 1000, 500]
    (line,) = said
    assert line.startswith(f"{path}:0: an event has reached the limit of 1,000 lines (multiline_lines)")


def test_formats_read_joined_lines():
    text = opened("text", options={"multiline": r"\d"})
    assert [event.text for event in read(text, TRACE.replace(b"\n", b"\r\n"))[0]] == [r.decode() for r in JOINED]
    options = {"multiline": r"\d", "pattern": r"(?P<time>\d+) (?P<label>\w+)(?P<text>.*)", "time_format": "%Y"}
    events, dead = read(opened("regex", options=options), TRACE.replace(b"\n", b"\r\n"))
    assert dead == []
    assert [(event.label, event.text) for event in events] == [
        ("one", "\n  at a\n  at b"),
        ("two", "\n\n  at c"),
        ("three", ""),
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"multiline": "("}, r"multiline=\( does not compile"),
        ({"multiline": " *"}, r"multiline= \* matches every line"),
        ({"multiline": r"\d", "multiline_lines": "0"}, "multiline_lines=0: expected a whole number >= 1"),
        ({"multiline": r"\d", "multiline_lines": "²"}, "multiline_lines=²: expected"),
        ({"multiline_lines": "5"}, "multiline_lines is the limit of multiline=PATTERN, which is not given"),
    ],
)
def test_options_that_are_wrong(options, said):
    with pytest.raises(ConfigError, match=said):
        joined_lines(options)


def test_a_pattern_that_backtracks_for_hours_is_an_error():
    with pytest.raises(ConfigError, match=r"multiline=.* needs longer than 0\.25 s for the line .aaaa"):
        framing(r"(a|a)*[bc]")(b"a" * 40 + b"\n", True)
