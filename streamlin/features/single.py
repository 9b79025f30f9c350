"""One event at a time: its features and their rows, in arrays that are kept for the next one.

To enter compiled code, or to make an array, costs as much as to hash some words. So one call hashes a text and looks
its rows up, and what it found stays: mostly, what was just predicted is learned next.
"""

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.features.hashing import hash_texts
from streamlin.features.ngrams import bucket_of
from streamlin.features.rows import Examples, RowIndex
from streamlin.features.sums import sum_repeats
from streamlin.features.view import View
from streamlin.kernel import kernel
from streamlin.octets import PADDING, padded

_Source = str | tuple[tuple[str, ...], tuple[float, ...]] | None
_LEARNED = np.array([True])
_PLAIN = frozenset((int, float))
_LARGEST = float(np.finfo(np.float32).max)
_REFUSED = -1


class SingleEvent:
    """The features of one text, or mapping of feature to value, with their rows.

    examples : as learners read them; `rows` and `values` are longer than there are entries.
    room : how many entries they hold.
    """

    examples: Examples
    room: int

    def __init__(self) -> None:
        self._source: _Source = None
        self._view: View | None = None
        self._n_rows = self._missing = 0
        self._make_room(256)

    @property
    def values(self) -> NDArray[np.float32]:
        """float32[nnz]."""
        return self.examples.values[: self.examples.indptr[1]]

    def take(self, x: str | Mapping[str, float], view: View, index: RowIndex) -> None:
        """Become x, unless it is already what the event is; its rows are those that there are now.

        A mapping may have been changed meanwhile: its names and values are compared, one by one.

        Raises
        ------
        RecordError : a value is no number, or not finite in float32.
        """
        source, n_rows = x if type(x) is str else _content(x), len(index)
        if source is None or source != self._source or view is not self._view:
            self._source = None
            self._find(x, source, view, index)
            self._source, self._view = source, view
        elif n_rows != self._n_rows:
            self._missing = look_up(self.examples.indptr[1], self._buckets, index.row_of, self.examples.rows)
        else:
            return
        self._n_rows = self.examples.rows_before[0] = n_rows

    def bring_rows(self, index: RowIndex) -> None:
        """Give rows to the features that have none."""
        if self._missing:
            indptr, rows, _, rows_before = self.examples
            index.assign(indptr, self._buckets, _LEARNED, rows, rows_before)

    def _find(self, x: str | Mapping[str, float], source: _Source, view: View, index: RowIndex) -> None:
        """Hash x and look its rows up; what is out of the ordinary takes the way of many."""
        if isinstance(x, str):
            arguments = (*view.text_arguments(x), index.row_of, *self._kept)
            count, self._missing = look_up_text(*arguments)
        else:
            packed, count = _packed(source), _REFUSED
            if packed is not None:
                count, self._missing = look_up_named(*packed, view.bits, index.row_of, *self._kept)
            if count == _REFUSED:
                indptr, buckets, values = view.of_mappings([x])
                count, self._missing = keep(int(indptr[1]), buckets, values, index.row_of, *self._kept)
        if count > self.room:
            self._make_room(2 * count)
            self._find(x, source, view, index)

    def _make_room(self, entries: int) -> None:
        self.room, self._buckets = entries, np.empty(entries, np.int32)
        rows, values = np.empty(entries, np.int32), np.empty(entries, np.float32)
        self.examples = Examples(np.zeros(2, np.int64), rows, values, np.zeros(1, np.int64))
        self._kept: tuple[Any, ...] = (self.examples.indptr, self._buckets, rows, values)


def _content(x: str | Mapping[str, float]) -> _Source:
    """What tells a mapping from others; None where a value, or a text, is of a kind that may not know its equals."""
    if isinstance(x, str):
        return None
    values = tuple(x.values())
    return (tuple(x), values) if _PLAIN.issuperset(map(type, values)) else None


def _packed(source: _Source) -> tuple[bytearray, bytes] | None:
    """A mapping's names and values as `look_up_named` reads them; None where they can't be put so."""
    if not isinstance(source, tuple):
        return None
    names, values = source
    try:
        joined = "\0".join(names)
        packed = struct.pack(f"{len(values)}d", *values)
    except (TypeError, struct.error):  # a name that is no text, a whole number beyond float64
        return None
    return (padded(joined), packed) if joined.count("\0") < max(len(names), 1) else None


@kernel
def look_up_text(
    octets: bytearray,
    ascii_table: NDArray[np.int16],
    table: NDArray[np.bool_],
    least: int,
    characters: int,
    shortest: int,
    longest: int,
    scale: int,
    bits: int,
    row_of: NDArray[np.int32],
    kept_indptr: NDArray[np.int64],
    kept_buckets: NDArray[np.int32],
    kept_rows: NDArray[np.int32],
    kept_values: NDArray[np.float32],
) -> tuple[int, int]:
    """Hash one text, its UTF-8 and PADDING as `octets`; the rest of the arguments as `hash_texts` has them."""
    data = np.frombuffer(octets, np.uint8)
    lengths, pieces, no_names = np.array([data.size - PADDING]), np.arange(2), np.empty(0, np.int64)
    indptr, buckets, values = hash_texts(
        data,
        lengths,
        pieces,
        data,
        no_names,
        ascii_table,
        table,
        least,
        characters,
        shortest,
        longest,
        scale,
        bits,
    )
    return keep(indptr[1], buckets, values, row_of, kept_indptr, kept_buckets, kept_rows, kept_values)


@kernel
def look_up_named(
    octets: bytearray,
    packed: bytes,
    bits: int,
    row_of: NDArray[np.int32],
    kept_indptr: NDArray[np.int64],
    kept_buckets: NDArray[np.int32],
    kept_rows: NDArray[np.int32],
    kept_values: NDArray[np.float32],
) -> tuple[int, int]:
    """The same of one mapping: `packed` is its values, float64[n]; `octets` the UTF-8 of its names, a zero behind each.

    Where a value is 0, or not finite in float32, it is (_REFUSED, 0): that must be looked at in another way.
    """
    names, given = np.frombuffer(octets, np.uint8), np.frombuffer(packed, np.float64)
    buckets, values = np.empty(given.size, np.int32), np.empty(given.size, np.float32)
    end = np.int64(-1)
    for j in range(given.size):
        if not 0.0 < abs(given[j]) < _LARGEST:
            return _REFUSED, 0
        values[j] = given[j]
        begin = end = end + 1
        while names[end] != 0:
            end += 1
        buckets[j] = bucket_of(names, begin, end, bits)
    indptr = np.array([0, given.size])
    sum_repeats(indptr, buckets, values, bits)
    return keep(indptr[1], buckets, values, row_of, kept_indptr, kept_buckets, kept_rows, kept_values)


@kernel
def keep(
    count: int,
    buckets: NDArray[np.int32],
    values: NDArray[np.float32],
    row_of: NDArray[np.int32],
    kept_indptr: NDArray[np.int64],
    kept_buckets: NDArray[np.int32],
    kept_rows: NDArray[np.int32],
    kept_values: NDArray[np.float32],
) -> tuple[int, int]:
    """Copy an event's `count` entries and look their rows up; nothing where there is no room for them.

    Returns `count`, and how many have no row.
    """
    if count > kept_buckets.size:
        return count, 0
    kept_indptr[1] = count
    for j in range(count):
        kept_buckets[j], kept_values[j] = buckets[j], values[j]
    return count, look_up(count, kept_buckets, row_of, kept_rows)


@kernel
def look_up(count: int, buckets: NDArray[np.int32], row_of: NDArray[np.int32], rows: NDArray[np.int32]) -> int:
    """Set the first `count` rows, -1 where there is none; returns how many those are."""
    missing = 0
    for j in range(count):
        rows[j] = row_of[buckets[j]]
        missing += rows[j] < 0
    return missing
