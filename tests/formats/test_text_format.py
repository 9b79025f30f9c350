"""Plain text, and what all formats of lines share."""

import pytest

from streamlin.errors import RecordError
from streamlin.events import Event
from tests.formats.reading import events, opened, read


def test_a_line_is_a_text():
    data = b"\xef\xbb\xbffirst\r\n\r\n \t\n\xef\xbb\xbfx\n" + "a\u2028b\u0085c\0\rd\n\n__label__x {1}".encode()
    texts = ["first", " \t", "x", "a\u2028b\u0085c\0\rd", "__label__x {1}"]
    assert events(opened("text", ["split"]), data) == [Event(text, extra={"split": None}) for text in texts]


def test_bytes_that_are_not_utf_8():
    good, dead = read(opened("text"), b"good\n" + b"twelve bytes\xff\n" + b"\xc3\xa9\n\xed\xa0\x80\n\xc3")
    assert good == [Event("good"), Event("é")]
    assert dead == [
        (1, "not UTF-8: byte 0xff at position 12"),
        (3, "not UTF-8: byte 0xed at position 0"),
        (4, "not UTF-8: byte 0xc3 at position 0"),
    ]


@pytest.mark.parametrize(
    "event", [Event(""), Event("a\nb"), Event("a\r"), Event("a", "x"), Event("\ufeff"), Event("\ud800")]
)
def test_text_refuses_events_it_can_not_represent(event):
    with pytest.raises(RecordError):
        opened("text").encode(event)
