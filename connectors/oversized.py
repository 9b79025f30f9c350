"""Passing over a record that is too long to hold."""

import re

from connectors.records import FINGERPRINT
from streamlin.events import Framing

SHOWN = 64 * 1024
"""So many bytes of a record are kept to be shown."""

_LOOK_BACK = 4096
_ORDINARY = re.compile(rb"[0-9A-Za-z\x80-\xff](?=[^0-9A-Za-z\x80-\xff]*\Z)")


class Oversized:
    """A record longer than may be held: its beginning, its length, and how its end is found.

    A framing wants a record from its first byte. What was dropped is therefore stood in for by a shorter text that
    leaves the framing in the same state: `x` inside a plain field or line, `"x` inside quotes. Which of them it is, a
    line feed tells: it ends the record, or does not. The cut is made after a letter or digit, where no quote or
    carriage return is half read.

    Parameters
    ----------
    data : the record's bytes so far, none of them its end.
    before : the up to `FINGERPRINT` bytes before it.

    Attributes
    ----------
    head : the first `SHOWN` bytes, as far as they are known.
    length, total : of the whole record, and with its line end; once its end was found.
    before : the up to `FINGERPRINT` bytes before what follows the record.
    """

    def __init__(self, framing: Framing, data: bytes, before: bytes) -> None:
        self._framing = framing
        self.length = self.total = self._dropped = 0
        self.before = before
        self._beginning = self._stand_in = self._carried = b""
        self._drop(data)

    @property
    def head(self) -> bytes:
        return self._beginning + self._carried[: SHOWN - len(self._beginning)]

    def feed(self, block: bytes, final: bool) -> bytes | None:
        """Go on with the next bytes; what follows the record in them, None while it has not ended."""
        data = self._stand_in + self._carried + block
        starts, ends, consumed = self._framing(data, final)
        if not starts.size:
            self._drop(data)
            return None
        end = int(starts[1]) if starts.size > 1 else consumed
        shift = self._dropped - len(self._stand_in)
        self.length, self.total = int(ends[0]) + shift, end + shift
        self._carried = data[len(self._stand_in) : int(ends[0])]
        self.before = (self.before + data[len(self._stand_in) : end])[-FINGERPRINT:]
        return data[end:]

    def _drop(self, data: bytes) -> None:
        """Stand in for as much of the stand-in and the bytes after it as can be."""
        kept = len(self._stand_in)
        cut = _last_ordinary(data, kept)
        if cut == kept:
            self._carried = data[kept:]
            return
        inside_quotes = not self._framing(data[:cut] + b"\n", False)[0].size
        self._dropped += cut - kept
        self._beginning += data[kept : min(cut, kept + SHOWN - len(self._beginning))]
        self.before = (self.before + data[max(kept, cut - FINGERPRINT) : cut])[-FINGERPRINT:]
        self._stand_in, self._carried = b'"x' if inside_quotes else b"x", data[cut:]


def _last_ordinary(data: bytes, least: int) -> int:
    """The index behind the last letter or digit; `least` where there is none in few bytes, the end where in many."""
    tail = data[max(least, len(data) - _LOOK_BACK) :]
    found = _ORDINARY.search(tail)
    if found:
        return len(data) - len(tail) + found.end()
    return least if len(tail) < _LOOK_BACK else len(data)
