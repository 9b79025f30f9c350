"""The features of one event at a time and their rows, in arrays that are reused for the next event.

Calling compiled code or creating an array costs as much as hashing a few words. One call therefore hashes a text and
looks up its rows, all arrays are bound arguments, and the result is kept, because an event that was just predicted is
usually the next to be learned.
"""

import struct
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features.hashing import hash_texts
from streamlin.features.memo import Memo
from streamlin.features.ngrams import bucket_of
from streamlin.features.rows import Examples, RowIndex
from streamlin.features.sums import sum_repeats
from streamlin.features.view import View
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundArguments, BoundTuple
from streamlin.kernel.byte_buffers import PADDING, encode_text

_Content = str | tuple[tuple[str, ...], tuple[float, ...]] | None
_PLAIN = frozenset((int, float))
_LARGEST = float(np.finfo(np.float32).max)
_REFUSED = -1


class _Bound(NamedTuple):
    """The arguments of the kernels below, of a view, an index and an event.

    The first nine are the last parameters of `hash_texts`. The last four belong to the event, and have room for more
    entries than it has.
    """

    ascii_ranges: NDArray[np.uint8]
    unicode_table: NDArray[np.uint8]
    min_length: int
    form: int | None
    shortest: int
    longest: int
    scale: int
    bits: int
    memo: Memo | None
    row_of: NDArray[np.int32]
    bucket_of: NDArray[np.int32]
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]
    buckets: NDArray[np.int32]


class SingleEvent:
    """The features of one text, or of one mapping of feature to value, with their rows.

    Parameters
    ----------
    view, index : compute the features, and their rows. The index must have `min_count` 1.

    Attributes
    ----------
    examples : as learners read them; `rows` and `values` may be longer than the number of entries.
    room : the number of entries that they can hold.
    """

    examples: Examples
    room: int

    def __init__(self, view: View, index: RowIndex) -> None:
        self.view, self._index = view, index
        self._content: _Content = None
        self._n_rows = self._missing = 0
        self._make_room(256)

    @property
    def values(self) -> NDArray[np.float32]:
        """float32[nnz]."""
        return self.examples.values[: self.examples.indptr[1]]

    def featurize(self, x: str | Mapping[str, float]) -> None:
        """Set the features to those of x, with the rows that the index has now; an equal x is not hashed again.

        A mapping may have been changed in the meantime, so its names and values are compared one by one.

        Raises
        ------
        RecordError : a value is not a number, or not finite in float32.
        """
        content, n_rows = x if type(x) is str else _content_of(x), self._index.n_rows
        if content is None or content != self._content:
            self._content = None
            self._look_up(x, content)
            self._content = content
        elif n_rows != self._n_rows:
            self._missing = self._bound.call(look_up)
        else:
            return
        self._n_rows = self._rows_before[0] = n_rows

    def bring_rows(self) -> None:
        """Assign rows to the features that have none."""
        if self._missing:
            self._index.make_room(self.room)
            if self._index.bucket_of is not self._bucket_of:
                self._bind()
            self._index.n_rows = self._bound.call(bring_rows, self._index.n_rows)

    def _look_up(self, x: str | Mapping[str, float], content: _Content) -> None:
        """Hash x and look up its rows; unusual mappings are hashed by `View.of_mappings`."""
        if isinstance(x, str):
            count, self._missing = self._bound.call(look_up_text, self.view.encode_one(x))
        else:
            packed, count = _packed(content), _REFUSED
            if packed is not None:
                count, self._missing = self._bound.call(look_up_named, *packed)
            if count == _REFUSED:
                indptr, buckets, values = self.view.of_mappings([x])
                count, self._missing = self._bound.call(look_up_hashed, int(indptr[1]), buckets, values)
        if count > self.room:
            self._make_room(2 * count)
            self._look_up(x, content)

    def _make_room(self, entries: int) -> None:
        self.room, self._rows_before = entries, np.zeros(1, np.int64)
        rows, values = np.empty(entries, np.int32), np.empty(entries, np.float32)
        self.examples = Examples(np.zeros(2, np.int64), rows, values, self._rows_before)
        self._buckets = np.empty(entries, np.int32)
        self._bind()

    def _bind(self) -> None:
        """Bind the current arrays."""
        self._bucket_of = self._index.bucket_of
        of_event = *self.examples[:3], self._buckets
        self._bound = BoundArguments(
            _Bound._make((*self.view.hash_options, self._index.row_of, self._bucket_of, *of_event))
        )


def _content_of(x: str | Mapping[str, float]) -> _Content:
    """A mapping's names and values, for comparison; None if a value is not an int or float, or x a subclass of str."""
    if isinstance(x, str):
        return None
    values = tuple(x.values())
    return (tuple(x), values) if _PLAIN.issuperset(map(type, values)) else None


def _packed(content: _Content) -> tuple[bytearray, bytes] | None:
    """A mapping's names and values as `look_up_named` reads them; None where they have no such form."""
    if not isinstance(content, tuple):
        return None
    names, values = content
    try:
        joined = "\0".join(names)
        packed = struct.pack(f"{len(values)}d", *values)
    except (TypeError, struct.error):  # a name that is not a str, an integer beyond float64
        return None
    return (encode_text(joined), packed) if joined.count("\0") < max(len(names), 1) else None


@kernel
def look_up_text(event: BoundTuple, text: bytearray) -> tuple[int, int]:
    """Hash one text, given as UTF-8 and PADDING, and look up its rows.

    Returns the number of its entries, and how many of them have no row. The event is changed only if it has room.
    """
    bound = event.items
    data = np.frombuffer(text, np.uint8)
    sizes = np.array([data.size - PADDING, 0, 1])
    lengths, pieces, no_names = sizes[:1], sizes[1:], sizes[:0]
    indptr, buckets, values = hash_texts(
        data,
        lengths,
        pieces,
        data,
        no_names,
        bound.ascii_ranges,
        bound.unicode_table,
        bound.min_length,
        bound.form,
        bound.shortest,
        bound.longest,
        bound.scale,
        bound.bits,
        bound.memo,
    )
    return look_up_hashed(event, indptr[1], buckets, values)


@kernel
def look_up_named(event: BoundTuple, joined: bytearray, packed: bytes) -> tuple[int, int]:
    """As `look_up_text`, for one mapping. joined : the UTF-8 of its names, each followed by 0. packed : float64[n].

    Returns (_REFUSED, 0) where a value is 0, or not finite in float32.
    """
    bound = event.items
    names, given = np.frombuffer(joined, np.uint8), np.frombuffer(packed, np.float64)
    buckets, values = np.empty(given.size, np.int32), np.empty(given.size, np.float32)
    end = np.int64(-1)
    for j in range(given.size):
        if not 0.0 < abs(given[j]) < _LARGEST:
            return _REFUSED, 0
        values[j] = given[j]
        begin = end = end + 1
        while names[end] != 0:
            end += 1
        buckets[j] = bucket_of(names, begin, end, bound.bits)
    indptr = np.array([0, given.size])
    sum_repeats(indptr, buckets, values, bound.bits)
    return look_up_hashed(event, indptr[1], buckets, values)


@kernel
def look_up_hashed(
    event: BoundTuple, count: int, buckets: NDArray[np.int32], values: NDArray[np.float32]
) -> tuple[int, int]:
    """As `look_up_text`, for hashed features: the first `count` of buckets, none of them repeated, and values."""
    bound = event.items
    if count > bound.buckets.size:
        return count, 0
    bound.indptr[1] = count
    for j in range(count):
        bound.buckets[j], bound.values[j] = buckets[j], values[j]
    return count, look_up(event)


@kernel
def look_up(event: BoundTuple) -> int:
    """Set the rows of the event's buckets, -1 where a bucket has none; returns how many have none."""
    bound = event.items
    missing = 0
    for j in range(bound.indptr[1]):
        bound.rows[j] = bound.row_of[bound.buckets[j]]
        missing += bound.rows[j] < 0
    return missing


@kernel
def bring_rows(event: BoundTuple, n_rows: int) -> int:
    """Assign the next rows, from `n_rows` on, to the event's buckets that have none; returns the new number of rows."""
    bound = event.items
    for j in range(bound.indptr[1]):
        if bound.rows[j] < 0:
            bound.rows[j] = bound.row_of[bound.buckets[j]] = n_rows
            bound.bucket_of[n_rows] = bound.buckets[j]
            n_rows += 1
    return n_rows
