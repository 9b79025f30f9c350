"""Bytes to events and back.

`open_format` gives the decoder of a format by name; what a format needs is imported when it is opened. Packages add
formats by entry points of the group `streamlin.formats`, subclasses of `streamlin.formats.base.Format`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from streamlin.errors import ConfigError, nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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
"""The names of the formats that come with streamlin."""

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
    options_taken = option_names(name)
    for key in options:
        if key not in options_taken:
            raise ConfigError(f"format {name} has no option '{key}'; {nearest(key, sorted(options_taken))}")
    from streamlin.formats.envelope import Envelope

    opened: Format = _class_of(name)(options, fields, extra)
    opened.envelope = Envelope(fields, extra)
    return opened


def format_of(path: str) -> str:
    """The name of the format that a path's suffix stands for, `.gz` or `.zst` left out; json if it says nothing."""
    name = path.lower().removesuffix(".gz").removesuffix(".zst")
    return next((known for suffix, known in _SUFFIXES.items() if name.endswith(suffix)), "json")


def option_names(name: str) -> frozenset[str]:
    """The URL options that a format takes. Raises ConfigError for an unknown name."""
    return _ENTRIES[name].options if name in _ENTRIES else frozenset(_class_of(name).options)


def _class_of(name: str) -> type[Format]:
    if name in _ENTRIES:
        entry = _ENTRIES[name]
        cls: type[Format] = getattr(import_module(f"streamlin.formats.{entry.module}"), entry.cls)
        return cls
    others = _others()
    if name not in others:
        raise ConfigError(f"unknown format '{name}'; {nearest(name, [*FORMATS, *others])}")
    try:
        cls = others[name].load()
    except Exception as error:  # whatever a foreign module raises while it is imported
        raise ConfigError(f"the format '{name}', {others[name].value}, can't be loaded: {error}") from None
    return cls


def _others() -> dict[str, EntryPoint]:
    """The formats of other packages."""
    from importlib.metadata import entry_points  # only where a name is none of ours

    return {point.name: point for point in entry_points(group="streamlin.formats")}
