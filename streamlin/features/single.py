"""One event at a time: its features and their rows, in arrays that are kept for the next one.

To enter compiled code, or to make an array, costs as much as to hash some words. So one call hashes a text and looks
its rows up, all arrays are bundled, and what it found stays: mostly, what was just predicted is learned next.
"""

import struct
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features.hashing import hash_texts
from streamlin.features.ngrams import bucket_of
from streamlin.features.rows import Examples, RowIndex
from streamlin.features.sums import sum_repeats
from streamlin.features.view import View
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundArguments, Items
from streamlin.kernel.byte_buffers import PADDING, padded

_Source = str | tuple[tuple[str, ...], tuple[float, ...]] | None
_PLAIN = frozenset((int, float))
_LARGEST = float(np.finfo(np.float32).max)
_REFUSED = -1


class _Kept(NamedTuple):
    """What the kernels below get of a view, an index, and an event.

    The first eight are what `hash_texts` ends with. The last four are the event's, with room for more entries than it
    has.
    """

    ascii_table: NDArray[np.int16]
    table: NDArray[np.bool_]
    least: int
    characters: int
    shortest: int
    longest: int
    scale: int
    bits: int
    row_of: NDArray[np.int32]
    bucket_of: NDArray[np.int32]
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]
    buckets: NDArray[np.int32]


class SingleEvent:
    """The features of one text, or mapping of feature to value, with their rows.

    Parameters
    ----------
    view, index : what finds its features, and their rows. The index knows a feature from its first sighting on.

    Attributes
    ----------
    examples : as learners read them; `rows` and `values` are longer than there are entries.
    room : how many entries they hold.
    """

    examples: Examples
    room: int

    def __init__(self, view: View, index: RowIndex) -> None:
        self.view, self._index = view, index
        self._source: _Source = None
        self._n_rows = self._missing = 0
        self._make_room(256)

    @property
    def values(self) -> NDArray[np.float32]:
        """float32[nnz]."""
        return self.examples.values[: self.examples.indptr[1]]

    def take(self, x: str | Mapping[str, float]) -> None:
        """Become x, unless it is already what the event is; its rows are those that there are now.

        A mapping may have been changed meanwhile: its names and values are compared, one by one.

        Raises
        ------
        RecordError : a value is no number, or not finite in float32.
        """
        source, n_rows = x if type(x) is str else _content(x), self._index.n_rows
        if source is None or source != self._source:
            self._source = None
            self._find(x, source)
            self._source = source
        elif n_rows != self._n_rows:
            self._missing = self._bundle.call(look_up)
        else:
            return
        self._n_rows = self._rows_before[0] = n_rows

    def bring_rows(self) -> None:
        """Give rows to the features that have none."""
        if self._missing:
            self._index.make_room(self.room)
            if self._index.bucket_of is not self._bucket_of:
                self._bind()
            self._index.n_rows = self._bundle.call(bring_rows, self._index.n_rows)

    def _find(self, x: str | Mapping[str, float], source: _Source) -> None:
        """Hash x and look its rows up; what is out of the ordinary takes the way of many."""
        if isinstance(x, str):
            count, self._missing = self._bundle.call(look_up_text, self.view.padded(x))
        else:
            packed, count = _packed(source), _REFUSED
            if packed is not None:
                count, self._missing = self._bundle.call(look_up_named, *packed)
            if count == _REFUSED:
                indptr, buckets, values = self.view.of_mappings([x])
                count, self._missing = self._bundle.call(look_up_hashed, int(indptr[1]), buckets, values)
        if count > self.room:
            self._make_room(2 * count)
            self._find(x, source)

    def _make_room(self, entries: int) -> None:
        self.room, self._rows_before = entries, np.zeros(1, np.int64)
        rows, values = np.empty(entries, np.int32), np.empty(entries, np.float32)
        self.examples = Examples(np.zeros(2, np.int64), rows, values, self._rows_before)
        self._buckets = np.empty(entries, np.int32)
        self._bind()

    def _bind(self) -> None:
        """Bundle what there is now."""
        self._bucket_of = self._index.bucket_of
        of_event = *self.examples[:3], self._buckets
        self._bundle = BoundArguments(_Kept._make((*self.view.how, self._index.row_of, self._bucket_of, *of_event)))


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
def look_up_text(event: Items, octets: bytearray) -> tuple[int, int]:
    """Hash one text, its UTF-8 and PADDING as `octets`, and look its rows up.

    Returns how many entries it has, and how many of them have no row; the event is changed if it has room for them.
    """
    kept = event.items
    data = np.frombuffer(octets, np.uint8)
    sizes = np.array([data.size - PADDING, 0, 1])
    lengths, pieces, no_names = sizes[:1], sizes[1:], sizes[:0]
    indptr, buckets, values = hash_texts(
        data,
        lengths,
        pieces,
        data,
        no_names,
        kept.ascii_table,
        kept.table,
        kept.least,
        kept.characters,
        kept.shortest,
        kept.longest,
        kept.scale,
        kept.bits,
    )
    return look_up_hashed(event, indptr[1], buckets, values)


@kernel
def look_up_named(event: Items, octets: bytearray, packed: bytes) -> tuple[int, int]:
    """The same of one mapping: `packed` is its values, float64[n]; `octets` the UTF-8 of its names, a zero behind each.

    Where a value is 0, or not finite in float32, it is (_REFUSED, 0): that must be looked at in another way.
    """
    kept = event.items
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
        buckets[j] = bucket_of(names, begin, end, kept.bits)
    indptr = np.array([0, given.size])
    sum_repeats(indptr, buckets, values, kept.bits)
    return look_up_hashed(event, indptr[1], buckets, values)


@kernel
def look_up_hashed(
    event: Items, count: int, buckets: NDArray[np.int32], values: NDArray[np.float32]
) -> tuple[int, int]:
    """The same of features: the first `count` buckets, each once, and their values."""
    kept = event.items
    if count > kept.buckets.size:
        return count, 0
    kept.indptr[1] = count
    for j in range(count):
        kept.buckets[j], kept.values[j] = buckets[j], values[j]
    return count, look_up(event)


@kernel
def look_up(event: Items) -> int:
    """Set the rows of the event's buckets, -1 where there is none; returns how many those are."""
    kept = event.items
    missing = 0
    for j in range(kept.indptr[1]):
        kept.rows[j] = kept.row_of[kept.buckets[j]]
        missing += kept.rows[j] < 0
    return missing


@kernel
def bring_rows(event: Items, n_rows: int) -> int:
    """Give the next rows, from `n_rows` on, to the event's buckets that have none; returns how many there are then."""
    kept = event.items
    for j in range(kept.indptr[1]):
        if kept.rows[j] < 0:
            kept.rows[j] = kept.row_of[kept.buckets[j]] = n_rows
            kept.bucket_of[n_rows] = kept.buckets[j]
            n_rows += 1
    return n_rows
