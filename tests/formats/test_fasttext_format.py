"""fastText's training lines."""

import pytest

from streamlin.errors import RecordError
from streamlin.events import Event
from tests.formats.reading import events, opened


@pytest.fixture(scope="module")
def fasttext():
    return opened("fasttext")


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ("__label__spam free offer", Event("free offer", "spam")),
        ("__label__a __label__b \t__label__c free", Event("free", "a")),
        (" \t__label__a  free ", Event("free ", "a")),
        ("free offer", Event("free offer")),
        ("  free", Event("  free")),
        ("free __label__spam", Event("free __label__spam")),
        ("__label__a free __label__b", Event("free __label__b", "a")),
        ("__label__a", Event("", "a")),
        ("__label__ free", Event("free")),
        ("__label__ __label__b free", Event("free")),
        ("__label__a__label__b x", Event("x", "a__label__b")),
        ("__label__a,b é", Event("é", "a,b")),
        ("__label__a\u00a0b\u2028c x\u0085y", Event("x\u0085y", "a\u00a0b\u2028c")),
        ("__label__a\0x", Event("x", "a")),
        ("__Label__a x", Event("__Label__a x")),
        (" ", Event(" ")),
    ],
)
def test_lines_by_hand(fasttext, line, event):
    assert events(fasttext, line.encode()) == [event]


def test_encode(fasttext):
    assert fasttext.encode(Event("free offer", "spam")) == b"__label__spam free offer"
    assert fasttext.encode(Event("free")) == b"free"
    assert fasttext.encode(Event("", "spam")) == b"__label__spam "


@pytest.mark.parametrize(
    "event",
    [
        Event(""),
        Event("a\nb"),
        Event("a\r"),
        Event("__label__x y"),
        Event(" a", "x"),
        Event("__label__y a", "x"),
        Event("a", "x y"),
        Event("a", ""),
        Event("a", id="1"),
        Event("a", weight=2.0),
        Event("a", time=0.0),
        Event("a", extra={"x": "y"}),
        Event("\ufeffa"),
        Event("\udfff"),
    ],
)
def test_fasttext_refuses_events_it_can_not_represent(fasttext, event):
    with pytest.raises(RecordError):
        fasttext.encode(event)
