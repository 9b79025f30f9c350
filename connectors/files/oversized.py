"""Passing over a record that is too long to hold."""

from connectors.records import FINGERPRINT
from streamlin.events import Framing

SHOWN = 64 * 1024
"""So many bytes of a record are kept to be shown."""

_QUOTE = b'"'


class Oversized:
    """A record longer than may be held: its beginning, its length, and how its end is found.

    A framing wants a record from its first byte. What was dropped is therefore stood in for by a shorter text that
    leaves the framing in the same state: `x` outside quotes, `"x` inside. Which of them it is, a line feed tells: it
    ends the record, or does not. The last byte is never dropped, as a carriage return may belong to the line end; nor
    is what stands before a quote that opens, as behind `x` it would not.

    Parameters
    ----------
    data : the record's bytes so far, at least 3, none of them its end.
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
        kept = len(self._stand_in)
        end = int(starts[1]) if starts.size > 1 else consumed
        self.length, self.total = int(ends[0]) - kept + self._dropped, end - kept + self._dropped
        self.before = (self.before + data[kept:end])[-FINGERPRINT:]
        self._carried = data[kept : int(ends[0])]
        return data[end:]

    def _drop(self, data: bytes) -> None:
        """Stand in for all but the last byte or two of the stand-in and what came after it."""
        kept, cut = len(self._stand_in), len(data) - 1
        inside = self._is_inside(data[:cut])
        if data[cut:] == _QUOTE and not inside and self._is_inside(data):
            cut -= 1
            inside = self._is_inside(data[:cut])
        self._dropped += cut - kept
        self._beginning += data[kept : min(cut, kept + SHOWN - len(self._beginning))]
        self.before = (self.before + data[max(kept, cut - FINGERPRINT) : cut])[-FINGERPRINT:]
        self._stand_in, self._carried = b'"x' if inside else b"x", data[cut:]

    def _is_inside(self, data: bytes) -> bool:
        """Whether the record's beginning ends inside quotes."""
        return not self._framing(data + b"\n", False)[0].size
