"""A source of Python objects: pairs, mappings, and data frames.

They are encoded as JSON lines and decoded like any others: with the same fields, checks and dead letters.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from streamlin.config import RunConfig
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Batch, Position, Records, single_records
from streamlin.formats.json_fields import put
from streamlin.streams.json_lines import json_lines

_CHUNK = 1000
"""Rows of a data frame that are converted together."""
_MISSING = ("NAType", "NaTType")


class IterableSource:
    """A source of rows; it always begins at the first one, whatever position a checkpoint holds.

    rows : each a pair of a text, or a mapping of fields, and its label (None for no label); a text alone; or a mapping
        alone, like an object of JSON lines.
    config : its `fields` name the fields.
    """

    key = "rows"

    def __init__(self, rows: Iterable[Any], config: RunConfig) -> None:
        self._rows, self._fields = iter(rows), config.fields
        self._has_tokens, self._tags_tokens = config.task in ("tagging", "parsing"), config.task == "tagging"
        fields = config.fields
        self._label = {"tagging": fields.tags, "parsing": fields.tree}.get(config.task, fields.label)
        self.format = json_lines(config)
        self._count = 0

    def poll(self, limit: int) -> list[Records] | None:
        """See `streamlin.events.Source`. Exceptions of the rows' iterator pass through."""
        rows = list(islice(self._rows, limit))
        if not rows:
            return None
        records = self.records(rows, self._count)
        self._count += len(rows)
        return [records]

    def records(self, rows: list[Any], begin: int = 0) -> Records:
        """The rows as records, numbered from `begin`."""
        lines, errors = list[bytes](), dict[int, str]()
        for number, row in enumerate(rows):
            try:
                lines.append(_ENCODER.encode(self._object(row)))
            except (RecordError, TypeError, ValueError, RecursionError) as error:  # text that is not UTF-8: ValueError
                lines.append(repr(row)[:1000].encode(errors="backslashreplace"))
                errors[number] = f"the row can't be read: {error}"
        numbers = np.arange(begin, begin + len(lines))
        return replace(single_records(lines, self.key), offsets=numbers, nexts=numbers + 1, errors=errors)

    def batch(self, rows: list[Any]) -> Batch:
        """The rows as a batch. Raises RecordError if one can't become an event."""
        batch, dead = self.format.decode(self.records(rows))
        if dead:
            raise RecordError(dead[0].error)
        return batch

    def texts(self, rows: list[Any]) -> Batch:
        """The rows as a batch in which each event has a text. Raises RecordError."""
        batch = self.batch(rows)
        if batch.label_only is not None:
            missing = "tokens or a text, found only tags" if self._tags_tokens else "a text, found only a label"
            raise RecordError(f"expected {missing}")
        return batch

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Does nothing: rows are not kept."""

    def close(self) -> None:
        """Does nothing: nothing is open."""

    def _object(self, row: Any) -> Mapping[str, Any]:
        x, y = row if self._is_pair(row) else (row, None)
        tree: dict[str, Any]
        if isinstance(x, str):
            tree = {}
            put(tree, self._fields.text[0], x)
        elif self._has_tokens and isinstance(x, tuple | list):
            tree = {}
            put(tree, self._fields.tokens, list(x))
        elif isinstance(x, Mapping):
            tree = {str(name): value for name, value in x.items()}
            if "." in self._label:
                tree = deepcopy(tree)  # nested objects belong to the caller
            y = tree.pop(self._label, None) if y is None else y
        else:
            raise TypeError(
                f"expected a text, {'a list of tokens, ' if self._has_tokens else ''}a mapping of fields, or a pair "
                f"of one of these and {'a list of tags' if self._tags_tokens else 'a label'}, got {_kind(x)}"
            )
        if y is not None:
            put(tree, self._label, self._encoded(y))
        return tree

    def _is_pair(self, row: Any) -> bool:
        """Whether a row is a pair of an event and its label, tags or tree; a list of two tokens is none."""
        if not isinstance(row, tuple | list) or len(row) != 2:
            return False
        if self._has_tokens and not self._tags_tokens:
            return isinstance(row, tuple)
        return not self._tags_tokens or row[1] is None or not isinstance(row[1], str)

    def _encoded(self, y: Any) -> Any:
        """A label, or tags, as JSON has it."""
        if not self._tags_tokens:
            return y if isinstance(y, str) else label_of(y)
        if isinstance(y, str) or not isinstance(y, Iterable):
            raise TypeError(f"expected a list of tags, got {_kind(y)}")
        return [tag if isinstance(tag, str) else label_of(tag) for tag in y]


def label_of(y: Any) -> str | None:
    """A label as text; None for NaN and for pandas' NA."""
    if y is None or type(y).__name__ in _MISSING or (isinstance(y, float) and y != y):
        return None
    return str(y)


def rows_of(source: Any) -> Iterable[Any]:
    """The rows of a pandas or polars data frame or of an Arrow table, as mappings; anything else unchanged.

    Raises
    ------
    ConfigError : the source can't be iterated over.
    """
    library = type(source).__module__.partition(".")[0]
    if library == "pandas" and hasattr(source, "to_dict"):
        return _pandas_rows(source)
    if library == "polars":
        frame = source.collect() if hasattr(source, "collect") else source
        rows: Iterable[Any] = frame.iter_rows(named=True)
        return rows
    if library == "pyarrow" and hasattr(source, "to_batches"):
        return (row for batch in source.to_batches(max_chunksize=_CHUNK) for row in batch.to_pylist())
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise ConfigError(
            f"can't read events from {_kind(source)}; give a path, a URL, (x, y) pairs, mappings, or a frame"
        )
    return source


def _pandas_rows(frame: Any) -> Iterator[Any]:
    for begin in range(0, len(frame), _CHUNK):
        yield from frame.iloc[begin : begin + _CHUNK].to_dict("records")


def _plain(value: Any) -> Any:
    """A value of a type that JSON does not have, as one that it has."""
    if type(value).__name__ in _MISSING:
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, np.generic):
        return value.item()
    return str(value)


def _kind(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
