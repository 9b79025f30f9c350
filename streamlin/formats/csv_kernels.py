"""RFC 4180, byte by byte.

A quote means something at the start of a cell only; inside a quoted cell two stand for one, and delimiters and line
ends are text.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

_LF, _QUOTE = 0x0A, 0x22
_BOM_1, _BOM_2, _BOM_3 = 0xEF, 0xBB, 0xBF

UNCLOSED, AFTER_QUOTE = -1, -2
"""In place of the number of cells: a quote never closes; something stands behind a closing quote."""


@kernel
def cut_records(
    octets: NDArray[np.uint8], delimiter: int, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[int, int]:
    """Find the line feeds that end a record.

    octets uint8[n] begin with a record; delimiter: a byte.
    starts, ends int64[line feeds in octets]: set to the records' bounds, line feeds left out.
    Returns the number of records and how far they reach.
    """
    records, begin, at = 0, 0, 0
    fresh, quoted, closed = True, False, False  # at a cell's start; inside quotes; just behind the second quote
    while at < octets.size:
        octet = octets[at]
        if quoted:
            quoted = octet != _QUOTE
            closed = not quoted
        elif octet == _LF:
            starts[records], ends[records] = begin, at
            records += 1
            begin = at + 1
            fresh, closed = True, False
        elif octet == _QUOTE and (fresh or closed):
            quoted, fresh, closed = True, False, False
        elif at == begin and _is_bom(octets, at):
            at += 2
        else:
            fresh, closed = octet == delimiter, False
        at += 1
    return records, begin


@kernel
def _is_bom(octets: NDArray[np.uint8], at: int) -> bool:
    """Whether a byte order mark stands at `at`."""
    return at + 2 < octets.size and octets[at] == _BOM_1 and octets[at + 1] == _BOM_2 and octets[at + 2] == _BOM_3


@kernel
def cut_cells(
    octets: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    delimiter: int,
    counts: NDArray[np.int64],
    begins: NDArray[np.int64],
    stops: NDArray[np.int64],
    doubled: NDArray[np.bool_],
) -> None:
    """Find the cells of records.

    octets uint8[n]; starts, ends int64[records] in them; delimiter: a byte.
    counts int64[records]: set to the number of cells, or to UNCLOSED or AFTER_QUOTE.
    begins, stops int64[records, width]: set to the bounds of the first `width` cells, quotes left out.
    doubled bool[records, width]: set where a quoted cell holds doubled quotes.
    """
    width = begins.shape[1]
    for i in range(starts.size):
        at, end, cell = starts[i], ends[i], 0
        while True:
            twice = False
            if at < end and octets[at] == _QUOTE:
                at += 1
                begin = at
                while at < end and (octets[at] != _QUOTE or (at + 1 < end and octets[at + 1] == _QUOTE)):
                    twice = twice or octets[at] == _QUOTE
                    at += 2 if octets[at] == _QUOTE else 1
                stop = at
                at += 1
                if at > end:
                    counts[i] = UNCLOSED
                    break
                if at < end and octets[at] != delimiter:
                    counts[i] = AFTER_QUOTE
                    break
            else:
                begin = at
                while at < end and octets[at] != delimiter:
                    at += 1
                stop = at
            if cell < width:
                begins[i, cell], stops[i, cell], doubled[i, cell] = begin, stop, twice
            cell += 1
            if at >= end:
                counts[i] = cell
                break
            at += 1
