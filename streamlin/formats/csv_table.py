"""CSV records as a table of cells."""

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import DecodeError
from streamlin.formats.csv_kernels import AFTER_QUOTE, NO_QUOTE, QUOTE, UNCLOSED, cut_cells
from streamlin.formats.utf8 import Indices, texts_of


class Table:
    """The cells of records. Raises DecodeError if a record is malformed, or, with `exact`, has not `width` cells.

    quotes : whether a quote at the start of a cell has its meaning; else it is text.
    n_cells : the number of cells of the first record.
    """

    def __init__(
        self,
        data: bytes,
        starts: Indices,
        ends: Indices,
        delimiter: int,
        width: int,
        *,
        exact: bool = True,
        quotes: bool = True,
    ) -> None:
        shape = starts.size, width
        counts = np.empty(starts.size, np.int64)
        self._data = data
        self._begins, self._stops = np.empty(shape, np.int64), np.empty(shape, np.int64)
        self._doubled = np.empty(shape, np.bool_)
        buffer = np.frombuffer(data, np.uint8)
        quote = QUOTE if quotes else NO_QUOTE
        cut_cells(buffer, starts, ends, delimiter, quote, counts, self._begins, self._stops, self._doubled)
        _check_counts(counts, width if exact else None)
        self.n_cells = int(counts[0]) if counts.size else 0

    def column(self, number: int) -> list[str]:
        """The cells of a column, without their quotes."""
        cells = texts_of(self._data, self._begins[:, number], self._stops[:, number])
        for i in np.flatnonzero(self._doubled[:, number]):
            cells[i] = cells[i].replace('""', '"')
        return cells


def _check_counts(counts: NDArray[np.int64], width: int | None) -> None:
    if (counts == UNCLOSED).any():
        raise DecodeError("a quote is not closed")
    if (counts == AFTER_QUOTE).any():
        raise DecodeError("a closing quote is not followed by a delimiter")
    if width is not None and (counts != width).any():
        raise DecodeError(f"{counts[counts != width][0]} cells, expected {width}")
