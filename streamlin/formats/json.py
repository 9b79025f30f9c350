"""JSON lines: one object per line."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import isfinite
from types import NoneType
from typing import Any

import msgspec
import numpy as np

from streamlin.config import FieldsConfig
from streamlin.errors import DecodeError, RecordError
from streamlin.events import MAX_WEIGHT, Batch, Event, Records
from streamlin.formats.base import Format, texts_and_pieces, without_text
from streamlin.formats.flat_columns import FlatColumns
from streamlin.formats.json_errors import ADVICE, explained, malformed
from streamlin.formats.json_fields import JsonFields, put
from streamlin.formats.utf8 import Indices, check_utf8, encoding_error, spans
from streamlin.formats.values import checked_weights, names, number_text, unix_times

_OPEN, _CLOSE = b"{}"


class JsonFormat(Format):
    """One object per record, with keys in any order; of equal keys the last one counts.

    Fields are named by `fields`, nested ones by dotted paths. A nested field is missing if its object is missing.
    """

    name = "json"
    advice = ADVICE

    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> None:
        self._fields, self._extra = fields, tuple(extra)
        self._json = JsonFields(fields, extra)
        first, several = fields.text[0], len(fields.text) > 1
        self._missing = f"all of {', '.join(fields.text)} are missing" if several else f"field '{first}' is missing"
        self.errors_without_text = super().errors_without_text | {
            self._missing,
            f"{first} is of type null, expected str",
        }
        self._decoder = msgspec.json.Decoder(self._json.type)
        self._flat = FlatColumns(fields, extra) if FlatColumns.suits(fields, extra) else None

    def take_delayed_labels(self) -> None:
        """See `Format`."""
        self.delayed_labels, self._flat = True, None
        self._json = JsonFields(self._fields, self._extra, needs_text=False)
        self._decoder = msgspec.json.Decoder(self._json.type)

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`."""
        if self._flat is not None and (batch := self._flat.batch(records, kept, self.per_second)) is not None:
            return batch
        rows = self._rows(records, kept)
        fields = self._fields

        def column(path: str) -> list[Any]:
            return self._json.column(rows, path)

        columns = [column(path) for path in fields.text]
        label_only = without_text(columns) if self.delayed_labels else None
        texts, pieces = texts_and_pieces(columns, self._missing, label_only)
        return Batch(
            ids=names(column(fields.id)),
            texts=texts,
            labels=names(column(fields.label)),
            weights=checked_weights(column(fields.weight)),
            times=unix_times(column(fields.time), self.per_second),
            extra={path: further_texts(column(path)) for path in self._extra},
            records=records,
            kept=kept,
            pieces=pieces,
            label_only=label_only,
        )

    def encode(self, event: Event) -> bytes:
        """The object of an event, without missing values; each of several text fields gets one line of the text."""
        return self._encoded(event, self._texts(event.text))

    def encode_label(self, event: Event) -> bytes:
        """An object that is only the label of the text with the event's id."""
        return self._encoded(event, {})

    def _texts(self, text: str) -> dict[str, Any]:
        """The text by field, of which each gets a line."""
        fields = self._fields.text
        return dict(zip(fields, text.split("\n", len(fields) - 1), strict=False))

    def _encoded(self, event: Event, own: Mapping[str, Any]) -> bytes:
        """The object of an event with its text, or what it has instead of one, by field."""
        fields = self._fields
        tree: dict[str, Any] = {}
        for path, value in event.extra.items():
            put(tree, path, value)
        put(tree, fields.id, event.id)
        for path, value in own.items():
            put(tree, path, value)
        put(tree, fields.label, event.label)
        put(tree, fields.weight, None if event.weight == 1.0 else _finite(event.weight, "weight"))
        put(tree, fields.time, None if event.time is None else _finite(event.time, "time"))
        return _encoded(tree)

    def _rows(self, records: Records, kept: Indices) -> list[Any]:
        """The objects, decoded by one call if possible."""
        data = records.data
        starts, ends = spans(records, kept)
        check_utf8(data, starts, ends)
        if _are_objects(data, starts, ends):
            with suppress(msgspec.DecodeError, RecursionError):
                rows = self._decoder.decode_lines(_lines(data, starts, ends, kept))
                if len(rows) == kept.size:
                    return rows
        return [self._row(data[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def _row(self, record: bytes) -> Any:
        """One object. Raises DecodeError with the reason."""
        try:
            return self._decoder.decode(record)
        except msgspec.ValidationError as error:
            return self._row_by_last_keys(record, str(error))
        except msgspec.DecodeError as error:
            raise DecodeError(malformed(str(error), record)) from None
        except RecursionError:
            raise DecodeError("the JSON is nested too deeply") from None

    def _row_by_last_keys(self, record: bytes, message: str) -> Any:
        """The object, if the error in `message` is only in a value that a later equal key replaces."""
        with suppress(msgspec.DecodeError, RecursionError):
            return msgspec.convert(msgspec.json.decode(record), self._json.type)
        raise DecodeError(explained(message, record))


def _are_objects(data: bytes, starts: Indices, ends: Indices) -> bool:
    """Whether each record begins and ends with a brace.

    Then no decoded value can extend from one record into the next, since `} {` occurs nowhere in JSON: if there are as
    many objects as records, each record is one object.
    """
    buffer = np.frombuffer(data, np.uint8)
    return bool((starts < ends).all() and (buffer[starts] == _OPEN).all() and (buffer[ends - 1] == _CLOSE).all())


def _lines(data: bytes, starts: Indices, ends: Indices, kept: Indices) -> bytes:
    """The records, separated by white space."""
    if kept.size and kept[-1] - kept[0] + 1 == kept.size:
        return data[starts[0] : ends[-1]]
    return b"\n".join([data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)])


def further_texts(values: list[Any]) -> list[str | None]:
    """Further fields as texts: numbers as in labels; true, false, lists and objects as JSON."""
    if set(map(type, values)) <= {str, NoneType}:
        return values
    return [value if value is None or isinstance(value, str) else _text(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return msgspec.json.encode(value).decode()


def _finite(value: float, name: str) -> float:
    if not isfinite(value) or (name == "weight" and not 0 <= value <= MAX_WEIGHT):
        raise RecordError(f"{name} {value} can't be written")
    return value


def _encoded(tree: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(tree)
    except UnicodeEncodeError as error:
        raise encoding_error(error) from None
