"""Kernels that split CSV into records and cells (RFC 4180).

A quote has its special meaning only at the start of a cell. Inside a quoted cell two quotes mean one, and
delimiters and line ends are text.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

_LF, QUOTE = 0x0A, 0x22
NO_QUOTE = 256
"""In place of the quote's byte: quotes are text."""
_BOM_1, _BOM_2, _BOM_3 = 0xEF, 0xBB, 0xBF

UNCLOSED, AFTER_QUOTE = -1, -2
"""Used in place of a number of cells: a quote is never closed; a closing quote is not followed by a delimiter."""


@kernel
def cut_records(
    buffer: NDArray[np.uint8], delimiter: int, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[int, int]:
    """Find the line feeds that end a record.

    buffer uint8[n]: begins with a record. delimiter: a byte.
    starts, ends int64[line feeds in buffer]: set to the bounds of the records, without their line feeds.
    Returns the number of records and the number of bytes they take.
    """
    records, begin, at = 0, 0, 0
    fresh, quoted, closed = True, False, False  # at a cell's start; inside quotes; right after the closing quote
    bare = True  # nothing but NULs and byte order marks since the record's start
    while at < buffer.size:
        byte = buffer[at]
        if quoted:
            quoted = byte != QUOTE
            closed = not quoted
        elif byte == _LF:
            starts[records], ends[records] = begin, at
            records += 1
            begin = at + 1
            fresh, closed, bare = True, False, True
        elif byte == QUOTE and (fresh or closed):
            quoted, fresh, closed, bare = True, False, False, False
        elif bare and byte == 0:
            pass
        elif bare and _is_bom(buffer, at):
            at += 2
        else:
            fresh, closed, bare = byte == delimiter, False, False
        at += 1
    return records, begin


@kernel
def long_cell(buffer: NDArray[np.uint8], delimiter: int, most: int) -> int:
    """Where the first quoted cell opens that holds more than `most` line feeds; -1 for none. Arguments as above."""
    opened, lines = 0, 0
    fresh, quoted, closed = True, False, False
    for at in range(buffer.size):
        byte = buffer[at]
        if quoted:
            quoted = byte != QUOTE
            closed = not quoted
            lines += byte == _LF
            if lines > most:
                return opened
        elif byte == QUOTE and (fresh or closed):
            opened, lines = (at, 0) if fresh else (opened, lines)
            quoted, fresh, closed = True, False, False
        else:
            fresh, closed = byte in (delimiter, _LF), False
    return -1


@kernel
def _is_bom(buffer: NDArray[np.uint8], at: int) -> bool:
    """Whether there is a byte order mark at `at`."""
    return at + 2 < buffer.size and buffer[at] == _BOM_1 and buffer[at + 1] == _BOM_2 and buffer[at + 2] == _BOM_3


@kernel
def cut_cells(
    buffer: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    delimiter: int,
    quote: int,
    counts: NDArray[np.int64],
    begins: NDArray[np.int64],
    stops: NDArray[np.int64],
    doubled: NDArray[np.bool_],
) -> None:
    """Find the cells of records.

    buffer uint8[n]; starts, ends int64[records]: bounds in the buffer; delimiter: a byte; quote: a byte or NO_QUOTE.
    counts int64[records]: set to the number of cells, or to UNCLOSED or AFTER_QUOTE.
    begins, stops int64[records, width]: set to the bounds of the first `width` cells, without quotes.
    doubled bool[records, width]: set where a quoted cell contains doubled quotes.
    """
    width = begins.shape[1]
    for i in range(starts.size):
        at, end, cell = starts[i], ends[i], 0
        while True:
            twice = False
            if at < end and buffer[at] == quote:
                at += 1
                begin = at
                while at < end and (buffer[at] != quote or (at + 1 < end and buffer[at + 1] == quote)):
                    twice = twice or buffer[at] == quote
                    at += 2 if buffer[at] == quote else 1
                stop = at
                at += 1
                if at > end:
                    counts[i] = UNCLOSED
                    break
                if at < end and buffer[at] != delimiter:
                    counts[i] = AFTER_QUOTE
                    break
            else:
                begin = at
                while at < end and buffer[at] != delimiter:
                    at += 1
                stop = at
            if cell < width:
                begins[i, cell], stops[i, cell], doubled[i, cell] = begin, stop, twice
            cell += 1
            if at >= end:
                counts[i] = cell
                break
            at += 1
