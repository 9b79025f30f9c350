"""Vowpal Wabbit's text format."""

import numpy as np
import pytest

from streamlin.errors import RecordError
from streamlin.events import Event
from tests.formats.reading import error, events, framed, opened


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
        ("1 | x:2 y z:1.0 w:0", Event("y z\nx", "1")),
        ("1 |ns:0 x |m y", Event("\ny", "1")),
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
        ("1 | a:x", "the value of 'a' is 'x', expected a number"),
        ("1 | a:", "the value of 'a' is '', expected a number"),
        ("1 | a:nan", "the value of 'a' is 'nan', expected a number"),
        ("1 | a:1e999", "the value of 'a' is inf, beyond float32"),
        ("1 |ns:1e30 a:-1e30", "the value of 'a' is -1e+60, beyond float32"),
        ("1 | http://x", "the value of 'http' is '//x', expected a number"),
        ("1 |ns:x a:2", "the value of 'ns' is 'x', expected a number"),
        ("1 | :2", "no word before the ':' of a value"),
    ],
)
def test_what_is_wrong_with_a_line(vw, line, message):
    assert error(vw, line.encode()) == message


@pytest.mark.parametrize(
    ("line", "text", "valued"),
    [
        ("1 | a:0.5 b", "b", [("a", 0.5)]),
        ("1 | a:-1 b a:1e-3", "b", [("a", -1.0), ("a", 0.001)]),
        ("1 |ns:2 x y:3 |m:-0.5 z", "\n", [("x", 2.0), ("y", 6.0), ("z", -0.5)]),
        ("1 |ns:2 x:0.5", "x", []),
        ("1 | a:0 b:0.0 c:-0 d:1e-60", "", []),
    ],
)
def test_values_are_real_numbers(vw, line, text, valued):
    """A word with a value is a piece of its own behind the text; of a value of 1 nothing is left to say."""
    batch, dead = vw.decode(framed(vw, line.encode()))
    assert dead == []
    assert batch.texts == [text, *(word for word, _ in valued)]
    if valued:
        assert batch.pieces.tolist() == [0, len(batch.texts)]
        assert batch.values.tolist() == [1.0, *(float(np.float32(value)) for _, value in valued)]
    else:
        assert batch.values is None


def test_parts_of_batches_keep_their_values(vw):
    whole, _ = vw.decode(framed(vw, b"1 | a:2 b\n1 | c\n1 | d:3 e:-4\n"))
    parts = [whole[0:1], whole[1:2], whole[2:3]]
    assert [part.texts for part in parts] == [["b", "a"], ["c"], ["", "d", "e"]]
    assert [part.values.tolist() for part in parts] == [[1, 2], [1], [1, 3, -4]]


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
