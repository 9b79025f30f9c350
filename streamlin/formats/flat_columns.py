"""The columns of a batch from flat JSON objects, straight from their bytes; see `flat_json`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.config import FieldsConfig
from streamlin.events import Batch, Records
from streamlin.formats.flat_json import DECIMAL, ESCAPED, MISSING, TEXT, find_fields
from streamlin.formats.flat_values import copy_values, distinct_values, numbers
from streamlin.formats.utf8 import Indices, check_utf8, spans
from streamlin.formats.values import check_weights
from streamlin.kernel.byte_buffers import PADDING, Utf8Texts, concatenate
from streamlin.kernel.decorator import is_kept

Places = tuple[Indices, Indices, NDArray[np.uint8]]
_TEXT, _LABEL, _ID, _WEIGHT, _TIME, _EXTRA = range(6)
"""The rows of fields; further ones are the last."""
_OPEN, _CLOSE = b"{}"
FIRST, IF_KEPT = 6_000_000, 1_000_000
"""Bytes of records that are left to the other decoder: a short run need not wait until kernels are compiled, nor, where
they are kept on disk, until they are loaded."""
FEWEST = 1 << 15
"""Bytes of records below which the calls of numpy and kernels take longer than an object for each record."""


class FlatColumns:
    """Reads batches of flat objects with a text each, and perhaps a label, an id, a weight, a time and further fields.

    fields, extra : their keys, no dotted paths.
    """

    def __init__(self, fields: FieldsConfig, extra: Sequence[str]) -> None:
        self._read, self._extra = 0, extra
        self._keys, self._bounds = concatenate([name.encode() for name in _keys(fields, extra)])

    @staticmethod
    def suits(fields: FieldsConfig, extra: Sequence[str]) -> bool:
        """Whether the fields can be read so: one text, no nested fields, none twice."""
        keys = _keys(fields, extra)
        return len(fields.text) == 1 and not any("." in key for key in keys) and len(keys) == len({*keys})

    def batch(self, records: Records, kept: Indices, per_second: float) -> Batch | None:
        """The events of records as any decoder of JSON would give them; None where this one leaves that to another.

        per_second : how many of the unit of times make a second.

        Raises
        ------
        DecodeError : a record is not UTF-8.
        RecordError : a weight is out of range.
        """
        if kept.size:
            self._read += int(records.ends[kept[-1]] - records.starts[kept[0]])
        is_early = self._read <= IF_KEPT or (self._read <= FIRST and not is_kept(find_fields))
        if is_early or (found := objects(records, kept)) is None:
            return None
        data, (begins, stops, kinds) = found[0], room(self._bounds.size - 1, kept.size)
        if not find_fields(*found, self._keys, self._bounds, begins, stops, kinds) or not _fit(kinds):
            return None
        weights = _numbers(data, begins[_WEIGHT], stops[_WEIGHT], kinds[_WEIGHT], 1.0)
        times = _numbers(data, begins[_TIME], stops[_TIME], kinds[_TIME], np.nan)
        if weights is None or times is None:
            return None
        check_weights(weights)
        extra = {
            name: _texts(data, begins[row], stops[row], kinds[row])
            for row, name in enumerate(self._extra, start=_EXTRA)
        }
        return Batch(
            ids=ids_of(data, begins[_ID], stops[_ID], kinds[_ID]),
            texts=texts_of(data, begins[_TEXT], stops[_TEXT], kinds[_TEXT]),
            labels=_labels(data, begins[_LABEL], stops[_LABEL], kinds[_LABEL]),
            weights=weights,
            times=times / per_second,
            extra=extra,
            records=records,
            kept=kept,
        )


def _labels(data: NDArray[np.uint8], begins: Indices, stops: Indices, kinds: NDArray[np.uint8]) -> list[str | None]:
    """The labels; equal ones are one object."""
    values, codes = distinct(data, begins, stops, kinds)
    with_none: list[str | None] = [*values, None]  # code -1
    return [*map(with_none.__getitem__, codes.tolist())]


def _texts(data: NDArray[np.uint8], begins: Indices, stops: Indices, kinds: NDArray[np.uint8]) -> list[str | None]:
    """The values of a further field, None where it is missing; equal ones are one object."""
    found = _labels(data, begins, stops, kinds)
    for event in np.flatnonzero((kinds == TEXT) & (begins == stops)).tolist():
        found[event] = ""
    return found


def _numbers(
    data: NDArray[np.uint8], begins: Indices, stops: Indices, kinds: NDArray[np.uint8], default: float
) -> NDArray[np.float64] | None:
    """The numbers float64[n] of a field, the default where it is missing; None if this decoder can't read them all."""
    found = np.full(kinds.size, default)
    return found if not kinds.any() or numbers(data, begins, stops, kinds, found) else None


def distinct(
    data: NDArray[np.uint8], begins: Indices, stops: Indices, kinds: NDArray[np.uint8]
) -> tuple[list[str], NDArray[np.int32]]:
    """The distinct values of n, which have no escapes, in order of first appearance, and int32[n]; see `Distinct`."""
    codes, firsts = np.empty(kinds.size, np.int32), np.empty(kinds.size, np.int64)
    slots = np.full(1 << (2 * kinds.size).bit_length(), -1, np.int32)
    count = distinct_values(data, begins, stops, kinds, slots, codes, firsts)
    return [data[begins[i] : stops[i]].tobytes().decode() for i in firsts[:count].tolist()], codes


def objects(records: Records, kept: Indices) -> tuple[NDArray[np.uint8], Indices, Indices] | None:
    """The bytes of records, and where each begins and ends; None if they are few, or one is not between braces.

    Raises
    ------
    DecodeError : a record is not UTF-8.
    """
    if not kept.size or records.ends[kept[-1]] - records.starts[kept[0]] < FEWEST:
        return None
    starts, ends = spans(records, kept)
    check_utf8(records.data, starts, ends)
    data = np.frombuffer(records.data, np.uint8)
    fit = (ends - starts >= 2).all() and (data[starts] == _OPEN).all() and (data[ends - 1] == _CLOSE).all()
    return (data, starts, ends) if fit else None


def room(rows: int, columns: int) -> Places:
    """Room for where values begin and end, and for their kinds."""
    shape = rows, columns
    return np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape, np.uint8)


def _fit(kinds: NDArray[np.uint8]) -> bool:
    """Whether all values are of kinds that can be read here; an error in one is for the other decoder to name."""
    texts, names, numeric = kinds[_TEXT], kinds[[_LABEL, _ID, *range(_EXTRA, len(kinds))]], kinds[[_WEIGHT, _TIME]]
    return bool(_are_texts(texts).all() and are_names(names) and not _are_texts(numeric).any())


def are_names(kinds: NDArray[np.uint8]) -> bool:
    """Whether all values are names as they stand: texts without escapes, whole numbers, or missing."""
    return not ((kinds == ESCAPED) | (kinds == DECIMAL)).any()


def _are_texts(kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (kinds == TEXT) | (kinds == ESCAPED)
    return found


def _keys(fields: FieldsConfig, extra: Sequence[str]) -> tuple[str, ...]:
    """The keys in the order of rows."""
    return *fields.text, fields.label, fields.id, fields.weight, fields.time, *extra


def texts_of(data: NDArray[np.uint8], begins: Indices, stops: Indices, kinds: NDArray[np.uint8]) -> Utf8Texts:
    """The values without escapes; missing ones are empty."""
    there = kinds != MISSING
    octets = np.empty(int((stops - begins).sum(where=there)) + PADDING, np.uint8)
    bounds = np.empty(kinds.size + 1, np.int64)
    copy_values(data, begins, stops, kinds, octets, bounds)
    return Utf8Texts(octets, bounds, plain=not (kinds == ESCAPED).any())


def ids_of(data: NDArray[np.uint8], begins: Indices, stops: Indices, kinds: NDArray[np.uint8]) -> Sequence[str | None]:
    """The ids; missing and empty ones are None."""
    if not kinds.any():
        return [None] * kinds.size
    texts = texts_of(data, begins, stops, kinds)
    return texts if np.diff(texts.bounds).all() else [text or None for text in texts]
