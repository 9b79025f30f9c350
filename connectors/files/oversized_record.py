"""Skips a record that is too long to keep in memory."""

from connectors.records import FINGERPRINT
from streamlin.events import Framing

KEPT_BYTES = 64 * 1024
"""The number of bytes of an oversized record that are kept."""

_QUOTE = b'"'


class OversizedRecord:
    """A record longer than the limit: its beginning, its length, and the search for its end.

    A framing needs a record from its first byte. Dropped bytes are therefore replaced by a short stand-in that leaves
    the framing in the same state: `x` outside quotes, `"x` inside quotes. A line feed, which ends the record only
    outside quotes, tells which of them it is. The last byte is never dropped, as it may be a carriage return of the
    line end; neither is a byte before an opening quote, because a quote after `x` would not open.

    Parameters
    ----------
    data : the record's bytes so far, at least 3, without its end.
    before : up to `FINGERPRINT` bytes before the record.

    Attributes
    ----------
    head : the first `KEPT_BYTES` bytes, or fewer if not yet known.
    length, total : the length of the record without and with its line end; set when the end is found.
    before : up to `FINGERPRINT` bytes before the bytes that follow the record.
    """

    def __init__(self, framing: Framing, data: bytes, before: bytes) -> None:
        self._framing = framing
        self.length = self.total = self._dropped = 0
        self.before = before
        self._beginning = self._stand_in = self._carried = b""
        self._drop(data)

    @property
    def head(self) -> bytes:
        return self._beginning + self._carried[: KEPT_BYTES - len(self._beginning)]

    def feed(self, block: bytes, final: bool) -> bytes | None:
        """Process the next bytes; returns those after the record's end, None if it has not ended."""
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
        """Replace all but the last byte or two of the data by the stand-in."""
        kept, cut = len(self._stand_in), len(data) - 1
        inside = self._is_inside(data[:cut])
        if data[cut:] == _QUOTE and not inside and self._is_inside(data):
            cut -= 1
            inside = self._is_inside(data[:cut])
        self._dropped += cut - kept
        self._beginning += data[kept : min(cut, kept + KEPT_BYTES - len(self._beginning))]
        self.before = (self.before + data[max(kept, cut - FINGERPRINT) : cut])[-FINGERPRINT:]
        self._stand_in, self._carried = b'"x' if inside else b"x", data[cut:]

    def _is_inside(self, data: bytes) -> bool:
        """Whether the end of `data` is inside quotes."""
        return not self._framing(data + b"\n", False)[0].size
