"""Vowpal Wabbit's text format."""

import pytest

from streamlin.errors import RecordError
from streamlin.events import Event
from streamlin.formats.vw import MOST_REPEATED
from tests.formats.reading import error, events, opened


@pytest.fixture(scope="module")
def vw():
    return opened("vw")


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ("1 2.0 'id|ns free offer", Event("free offer", "1", "id", 2.0)),
        ("1 2.0 'id |ns free offer", Event("free offer", "1", "id", 2.0)),
        ("1 2.0 id|ns free offer", Event("free offer", "1", "id", 2.0)),
        ("1 2.0 0.5 'id| free", Event("free", "1", "id", 2.0)),
        ("spam | free offer", Event("free offer", "spam")),
        ("spam|free", Event("", None, "spam")),
        ("spam 'x 'y | a", None),
        ("'id | a", Event("a", None, "id")),
        ("' | a", Event("a")),
        (" | a", Event("a")),
        ("| a", Event("a")),
        ("|", Event("")),
        ("|ns", Event("")),
        ("spam |", Event("", "spam")),
        ("-1 0 |a b", Event("b", "-1", weight=0.0)),
        ("1 |title free  offer\t|body\tnow  ", Event("free offer\nnow", "1")),
        ("1 |a x|b y", Event("x\ny", "1")),
        ("1 |a |b y", Event("\ny", "1")),
        ("1 | x:2 y z:1.0 w:0", Event("x x y z", "1")),
        ("1 |ns:2 x y:3", Event("x x y y y y y y", "1")),
        ("1 |ns:0 x |m y", Event("\ny", "1")),
        ("1 | x:1e1", Event(" ".join("x" * 10), "1")),
        ("a:b |x y", Event("y", "a:b")),
        ("é\u2028 | a\u0085b\u2028c\0", Event("a\u0085b\u2028c\0", "é\u2028")),
    ],
)
def test_lines_by_hand(vw, line, event):
    if event is None:
        assert error(vw, line.encode()) == 'importance is "\'x", expected a number'
    else:
        assert events(vw, line.encode()) == [event]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("just a text", "not VW: no '|' before the words"),
        ("1 2 3 4 | a", "4 words before '|', expected at most label, importance and initial value"),
        ("1 b | a", "importance is 'b', expected a number"),
        ("1 2 c | a", "initial value is 'c', expected a number"),
        ("1:0.5 2:0.5 | a", "importance is '2:0.5', expected a number"),
        ("1 -2 | a", "weight is -2, expected a number from 0 to 1e+09"),
        ("1 1e999 | a", "weight is inf, expected a number from 0 to 1e+09"),
        ("1 | a:1.5", "the value of 'a' is '1.5', expected a whole number"),
        ("1 | a:-1", "the value of 'a' is '-1', expected a whole number"),
        ("1 | a:x", "the value of 'a' is 'x', expected a whole number"),
        ("1 | a:", "the value of 'a' is '', expected a whole number"),
        ("1 | a:1e999", "the value of 'a' is '1e999', expected a whole number"),
        ("1 | http://x", "the value of 'http' is '//x', expected a whole number"),
        ("1 |ns:0.5 a:2", "the value of 'ns' is '0.5', expected a whole number"),
        ("1 | :2", "no word before the ':' of a value"),
        ("1 | a:1000000", "values repeat words to more than 1,000,000 characters"),
        ("1 | a:1e300", "values repeat words to more than 1,000,000 characters"),
        ("1 |n:1e300 a:1e300", "values repeat words to more than 1,000,000 characters"),
        ("1 | a:300000 b:300000", "values repeat words to more than 1,000,000 characters"),
        ("1 | a:300000 |b a:300000", "values repeat words to more than 1,000,000 characters"),
    ],
)
def test_what_is_wrong_with_a_line(vw, line, message):
    assert error(vw, line.encode()) == message


def test_words_repeated_up_to_the_limit_are_read(vw):
    (event,) = events(vw, f"1 | a:{MOST_REPEATED // 2 + 1}".encode())
    assert len(event.text) == MOST_REPEATED + 1
    long = "word " * 300_000
    assert events(vw, f"1 | x:1 {long}".encode()) == [Event(f"x {long.strip()}", "1")]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Event("free offer"), b"| free offer"),
        (Event("free\noffer", "spam", "7", 2.0), b"spam 2.0 '7 | free | offer"),
        (Event(""), b"| "),
        (Event("\n\n", "x"), b"x |  |  | "),
    ],
)
def test_encode(vw, event, line):
    assert vw.encode(event) == line


@pytest.mark.parametrize(
    "event",
    [
        Event("a:2"),
        Event("a|b"),
        Event("a  b"),
        Event(" a"),
        Event("a\tb"),
        Event("a\r"),
        Event("a", "two words"),
        Event("a", "'x"),
        Event("a", id="x y"),
        Event("a", weight=2.0),
        Event("a", time=1.0),
        Event("a", extra={"x": "y"}),
        Event("a\ud800"),
        Event("a", label=""),
        Event("a", label="\ufeffx"),
    ],
)
def test_vw_refuses_events_it_can_not_represent(vw, event):
    with pytest.raises(RecordError):
        vw.encode(event)
