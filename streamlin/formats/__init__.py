"""Bytes to events and back.

`open_format` gives the decoder of a format by name; what a format needs is imported when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from streamlin.errors import ConfigError, nearest

if TYPE_CHECKING:
    from streamlin.config import FieldsConfig
    from streamlin.formats.base import Format

__all__ = ["FORMATS", "format_of", "open_format", "option_names"]


class _Entry(NamedTuple):
    module: str
    cls: str
    options: frozenset[str] = frozenset()


_CSV_OPTIONS = frozenset({"columns", "delimiter", "header"})

_ENTRIES = {
    "json": _Entry("json", "JsonFormat"),
    "csv": _Entry("csv", "CsvFormat", _CSV_OPTIONS),
    "tsv": _Entry("csv", "TsvFormat", _CSV_OPTIONS),
    "vw": _Entry("vw", "VwFormat"),
    "fasttext": _Entry("fasttext", "FasttextFormat"),
    "regex": _Entry("regex", "RegexFormat", frozenset({"pattern", "preset", "time_format"})),
    "text": _Entry("text", "TextFormat"),
}

FORMATS = tuple(_ENTRIES)
"""The names of all formats."""

_SUFFIXES = {
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".vw": "vw",
    ".ft": "fasttext",
    ".txt": "text",
    ".log": "text",
}


def open_format(name: str, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> Format:
    """The format of that name.

    options : its URL options, of those that `option_names` lists.
    fields : the input's own names for what an event holds; vw, fasttext and text have none.
    extra : names (dotted paths) of further fields to keep as columns; None wherever an event lacks one.

    Raises ConfigError for an unknown name or option, and for a bad value.
    """
    entry = _entry(name)
    for key in options:
        if key not in entry.options:
            raise ConfigError(f"format {name} has no option '{key}'; {nearest(key, sorted(entry.options))}")
    from streamlin.formats.envelope import Envelope

    cls = getattr(import_module(f"streamlin.formats.{entry.module}"), entry.cls)
    opened: Format = cls(options, fields, extra)
    opened.envelope = Envelope(fields, extra)
    return opened


def format_of(path: str) -> str:
    """The name of the format that a path's suffix stands for, `.gz` or `.zst` left out; json if it says nothing."""
    name = path.lower().removesuffix(".gz").removesuffix(".zst")
    return next((known for suffix, known in _SUFFIXES.items() if name.endswith(suffix)), "json")


def option_names(name: str) -> frozenset[str]:
    """The URL options that a format takes. Raises ConfigError for an unknown name."""
    return _entry(name).options


def _entry(name: str) -> _Entry:
    if name not in _ENTRIES:
        raise ConfigError(f"unknown format '{name}'; {nearest(name, FORMATS)}")
    return _ENTRIES[name]
