"""Framing of lines: records end at line feeds only."""

import numpy as np
from numpy.typing import NDArray

_LF, _CR = 0x0A, 0x0D


class Lines:
    """Framing of line formats. A carriage return before the line feed is dropped; empty lines are skipped.

    U+0085 and U+2028 do not end a line. See `streamlin.events.Framing`.

    header : whether the first line is a header.
    """

    def __init__(self, header: bool = False) -> None:
        self.header = header

    def __call__(self, data: bytes, final: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """starts int64[n], ends int64[n], and the number of bytes consumed."""
        buffer = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(buffer == _LF)
        consumed = int(ends[-1]) + 1 if ends.size else 0
        starts = np.empty_like(ends)
        starts[:1] = 0
        starts[1:] = ends[:-1] + 1
        if final and consumed < len(data):
            starts, ends, consumed = np.append(starts, consumed), np.append(ends, len(data)), len(data)
        return *trimmed(buffer, starts, ends), consumed


def trimmed(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Drop the carriage return at the end of each record, then empty records."""
    filled = starts < ends
    starts, ends = starts[filled], ends[filled]
    ends = ends - (buffer[ends - 1] == _CR)
    filled = starts < ends
    if filled.all():
        return starts, ends
    return starts[filled], ends[filled]
