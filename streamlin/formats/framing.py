"""Lines: records that end at a line feed and nowhere else."""

import numpy as np
from numpy.typing import NDArray

_LF, _CR = 0x0A, 0x0D


class Lines:
    """Framing of line formats. A carriage return before the line feed is dropped; empty lines are no records.

    U+0085 and U+2028 are text. See `streamlin.events.Framing`.
    """

    header = False

    def __call__(self, data: bytes, final: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """starts int64[n], ends int64[n], bytes dealt with."""
        octets = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(octets == _LF)
        consumed = int(ends[-1]) + 1 if ends.size else 0
        starts = np.empty_like(ends)
        starts[:1] = 0
        starts[1:] = ends[:-1] + 1
        if final and consumed < len(data):
            starts, ends, consumed = np.append(starts, consumed), np.append(ends, len(data)), len(data)
        return *trimmed(octets, starts, ends), consumed


def trimmed(
    octets: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Drop the carriage return at the end of a record, then the records that are empty."""
    filled = starts < ends
    starts, ends = starts[filled], ends[filled]
    ends = ends - (octets[ends - 1] == _CR)
    filled = starts < ends
    if filled.all():
        return starts, ends
    return starts[filled], ends[filled]
