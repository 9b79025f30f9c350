"""Framing of CSV: records end at line feeds that are not inside quotes."""

import numpy as np
from numpy.typing import NDArray

from streamlin.formats.csv_kernels import cut_records, long_cell
from streamlin.formats.framing import trimmed

MANY_LINES = 100
"""A quoted cell of more lines is worth a line."""


class CsvFraming:
    """Framing of CSV. A carriage return before the line feed is dropped; empty lines are skipped.

    After a quote that is never closed the rest is one record. See `streamlin.events.Framing`.
    """

    def __init__(self, delimiter: int, header: bool) -> None:
        self.header = header
        self._delimiter = delimiter

    def __call__(self, data: bytes, final: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """starts int64[n], ends int64[n], and the number of bytes consumed."""
        buffer = np.frombuffer(data, np.uint8)
        most = data.count(b"\n")
        starts, ends = np.empty(most, np.int64), np.empty(most, np.int64)
        n, consumed = cut_records(buffer, self._delimiter, starts, ends)
        starts, ends = starts[:n], ends[:n]
        if final and consumed < len(data):
            starts, ends, consumed = np.append(starts, consumed), np.append(ends, len(data)), len(data)
        return *trimmed(buffer, starts, ends), consumed

    def remark(self, data: bytes, starts: NDArray[np.int64], consumed: int) -> tuple[int, str] | None:
        """See `streamlin.events.Framing`: the first quoted cell of many lines, which may be a quote that is text."""
        if data.count(b"\n") - starts.size <= MANY_LINES:
            return None
        place = long_cell(np.frombuffer(data, np.uint8), self._delimiter, MANY_LINES)
        if place < 0:
            return None
        return place, (
            f"the quoted cell that opens here holds more than {MANY_LINES} lines; "
            "if the quote is text, read quotes as text by quotes=false"
        )
