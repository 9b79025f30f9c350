"""From bytes to events and back.

`open_format` opens a format by name and imports what it needs. Packages add formats as entry points of the group
`streamlin.formats`: subclasses of `streamlin.formats.base.Format`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from streamlin.errors import ConfigError, nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from streamlin.config import FieldsConfig
    from streamlin.formats.base import Format
    from streamlin.formats.tokens import Cut

__all__ = ["FORMATS", "format_of", "open_format", "open_sentences", "open_trees", "option_names"]


class _Entry(NamedTuple):
    module: str
    cls: str
    options: frozenset[str] = frozenset()


_CSV_OPTIONS = frozenset({"columns", "delimiter", "header", "quotes"})
_LINES_OPTIONS = frozenset({"multiline", "multiline_lines"})

_ENTRIES = {
    "json": _Entry("json", "JsonFormat"),
    "csv": _Entry("csv", "CsvFormat", _CSV_OPTIONS),
    "tsv": _Entry("csv", "TsvFormat", _CSV_OPTIONS),
    "vw": _Entry("vw", "VwFormat"),
    "fasttext": _Entry("fasttext", "FasttextFormat"),
    "regex": _Entry("regex", "RegexFormat", _LINES_OPTIONS | {"match_seconds", "pattern", "preset", "time_format"}),
    "text": _Entry("text", "TextFormat", _LINES_OPTIONS),
    "conll": _Entry("conll", "ConllFormat", frozenset({"columns"})),
    "bracketed": _Entry("bracketed", "BracketedFormat"),
}
_CUTTING = {
    "json": _Entry("json_sentences", "JsonSentences"),
    "text": _Entry("line_sentences", "TextSentences"),
    "regex": _Entry("line_sentences", "RegexSentences"),
}
"""For taggers: formats whose texts are cut into tokens."""
_OF_SENTENCES = (*_CUTTING, "conll")
_OF_TREES = ("json", "bracketed")

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
    ".conll": "conll",
    ".conllu": "conll",
    ".bracketed": "bracketed",
}


def open_format(name: str, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> Format:
    """The format of that name.

    options : its URL options, among those in `option_names`.
    fields : the input's names for the fields of an event; vw, fasttext and text have no names.
    extra : names (dotted paths) of further fields to keep as columns; None where an event lacks one.

    Raises ConfigError for an unknown name or option, and for a bad value.
    """
    _check_options(name, options)
    from streamlin.formats.envelope import Envelope

    opened: Format = _class_of(name)(options, fields, extra)
    opened.envelope = Envelope(fields, extra)
    return opened


def open_sentences(
    name: str, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str], cut: Cut
) -> Format:
    """The format of that name for sentences of tokens; arguments as of `open_format`.

    cut : cuts a text into tokens, where an event has none.
    """
    if name not in _OF_SENTENCES:
        known = f"{', '.join(_OF_SENTENCES[:-1])} or {_OF_SENTENCES[-1]}"
        raise ConfigError(f"format {name} has no tokens and tags; task = 'tagging' needs {known}")
    if name not in _CUTTING:
        return open_format(name, options, fields, extra)
    _check_options(name, options)
    from streamlin.formats.envelope import Envelope

    opened: Format = _imported(_CUTTING[name])(options, fields, extra, cut)
    opened.envelope = Envelope(fields, extra)
    return opened


def open_trees(name: str, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str], cut: Cut) -> Format:
    """The format of that name for trees; arguments as of `open_sentences`."""
    if name not in _OF_TREES:
        raise ConfigError(f"format {name} has no trees; task = 'parsing' needs {' or '.join(_OF_TREES)}")
    if name != "json":
        return open_format(name, options, fields, extra)
    _check_options(name, options)
    from streamlin.formats.envelope import Envelope
    from streamlin.formats.json_trees import JsonTrees

    opened = JsonTrees(options, fields, extra, cut)
    opened.envelope = Envelope(fields, extra)
    return opened


def format_of(path: str) -> str:
    """The name of the format of a path, by its suffix without `.gz` or `.zst`; json for an unknown suffix."""
    name = path.lower().removesuffix(".gz").removesuffix(".zst")
    return next((format_ for suffix, format_ in _SUFFIXES.items() if name.endswith(suffix)), "json")


def option_names(name: str) -> frozenset[str]:
    """The URL options of a format. Raises ConfigError for an unknown name."""
    return _ENTRIES[name].options if name in _ENTRIES else frozenset(_class_of(name).options)


def _check_options(name: str, options: Mapping[str, str]) -> None:
    known = option_names(name)
    for key in options:
        if key not in known:
            raise ConfigError(f"format {name} has no option '{key}'; {nearest(key, sorted(known))}")


def _imported(entry: _Entry) -> Any:
    """The class of one of our formats."""
    return getattr(import_module(f"streamlin.formats.{entry.module}"), entry.cls)


def _class_of(name: str) -> type[Format]:
    cls: type[Format]
    if name in _ENTRIES:
        cls = _imported(_ENTRIES[name])
        return cls
    plugins = _plugins()
    if name not in plugins:
        raise ConfigError(f"unknown format '{name}'; {nearest(name, [*FORMATS, *plugins])}")
    try:
        cls = plugins[name].load()
    except Exception as error:  # a plugin may raise anything while it is imported
        raise ConfigError(f"the format '{name}', {plugins[name].value}, can't be loaded: {error}") from None
    return cls


def _plugins() -> dict[str, EntryPoint]:
    """The formats of other packages."""
    from importlib.metadata import entry_points  # imported only for names that are not ours

    return {point.name: point for point in entry_points(group="streamlin.formats")}
