"""Lines by a regular expression."""

import pytest

from streamlin.errors import ConfigError, RecordError
from streamlin.events import Event
from streamlin.formats.base import Interrupted
from tests.formats.reading import error, events, framed, opened, read

FIELDS = (
    r"(?:(?P<id>\d+) )?(?P<label>\w*) (?:w=(?P<weight>\S*) )?(?:t=(?P<time>\S*) )?(?:(?P<lang>\w\w): )?(?P<text>.*)"
)


def regex(pattern, time_format=None, extra=(), **fields):
    options = {"pattern": pattern} | ({"time_format": time_format} if time_format else {})
    return opened("regex", extra, options, **fields)


def test_groups_are_fields():
    lines = b"7 spam w=2 t=1970-01-01T00:01:00Z en: free\nham hello\n  t=12.5 \nx w= t= y"
    assert events(regex(FIELDS, extra=["lang", "none"]), lines) == [
        Event("free", "spam", "7", 2.0, 60.0, {"lang": "en", "none": None}),
        Event("hello", "ham", extra={"lang": None, "none": None}),
        Event(" t=12.5 ", extra={"lang": None, "none": None}),
        Event("y", "x", extra={"lang": None, "none": None}),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"nothing", "the line does not match the pattern"),
        (b"spam w=x free", "weight is 'x', expected a number"),
        (b"spam w=-2 free", "weight is -2, expected a number from 0 to 1e+09"),
        (b"spam t=now free", "time is 'now', expected Unix seconds or RFC 3339"),
        (b"spam free\xff", "not UTF-8: byte 0xff at position 9"),
    ],
)
def test_what_is_wrong_with_a_line(line, message):
    assert error(regex(FIELDS), line).startswith(message)


def test_the_pattern_matches_the_whole_line():
    assert error(regex(r"(?P<text>\w+)"), b"two words") == "the line does not match the pattern"
    assert error(regex(r"(?P<text>\w+)"), b" one") == "the line does not match the pattern"


def test_an_unmatched_text_group_is_a_dead_letter():
    assert error(regex(r"a|(?P<text>b)"), b"a") == "the text is missing"
    assert events(regex(r"a(?P<text>b?)"), b"a") == [Event("")]


def test_a_time_format():
    format_ = regex(r"\[(?P<time>.*?)\] (?P<text>.*)", "%d/%b/%Y:%H:%M:%S %z")
    data = b"[10/Oct/2000:13:55:36 -0700] a\n[10/Oct/2000:20:55:36 +0000] b\n[] c"
    assert events(format_, data) == [Event("a", time=971211336.0), Event("b", time=971211336.0), Event("c")]
    assert error(format_, b"[1] a") == "time is '1', expected the format %d/%b/%Y:%H:%M:%S %z"


def test_a_time_without_zone_is_utc():
    format_ = regex(r"(?P<time>\S+) (?P<text>.*)", "%Y-%m-%dT%H:%M:%S,%f")
    assert events(format_, b"1970-01-02T00:00:01,500 a") == [Event("a", time=86401.5)]


def test_configured_names_and_several_text_fields():
    format_ = regex(r"(?P<level>\w+) (?P<head>\w+)(?: (?P<rest>.*))?", text=["head", "rest"], label="level")
    records = b"info a b c\nwarn a"
    batch, dead = format_.decode(framed(format_, records))
    assert (batch.texts, batch.pieces.tolist(), batch.labels, dead) == (
        ["a", "b c", "a"],
        [0, 2, 3],
        ["info", "warn"],
        [],
    )


def test_regex_can_not_encode():
    with pytest.raises(RecordError, match="regex can only be read; write json, csv, tsv, vw, fasttext or text"):
        regex("(?P<text>.*)").encode(Event("a"))


CATASTROPHIC = r"(?P<text>(a|a)*b|ok.*)"


def slow(**options):
    return opened("regex", (), {"pattern": CATASTROPHIC, "match_seconds": "0.05"} | options)


def test_a_line_that_backtracks_too_long_is_a_dead_letter():
    """Each such line is tried once, however the batch is halved; the lines around it are events."""
    lines = [b"ok 1", b"a" * 35, b"ok 2", b"a" * 36, b"no", b"aab", b"a" * 35]
    good, dead = read(slow(), b"\n".join(lines))
    assert [event.text for event in good] == ["ok 1", "ok 2", "aab"]
    too_long = "the pattern needs longer than match_seconds=0.05 for the line"
    assert [(letter.record, letter.error) for letter in dead] == [
        *((1, too_long), (3, too_long), (4, "the line does not match the pattern"), (6, too_long)),
    ]


def test_a_line_may_be_tried_for_longer():
    format_ = slow(match_seconds="60")
    assert [event.text for event in events(format_, b"a" * 18 + b"b")] == ["a" * 18 + "b"]
    assert error(format_, b"a" * 19) == "the line does not match the pattern"


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "x", "", "3601"])
def test_match_seconds_is_a_positive_number(seconds):
    with pytest.raises(ConfigError, match=r"match_seconds=.*: expected a number of seconds above 0, at most 3600"):
        slow(match_seconds=seconds)


def test_a_slow_line_ends_decoding_when_the_run_ends():
    format_ = slow()
    format_.is_stopped = lambda: True
    with pytest.raises(Interrupted):
        read(format_, b"ok 1\n" + b"a" * 35)
    assert [event.text for event in events(format_, b"ok 1")] == ["ok 1"]
