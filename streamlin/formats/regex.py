"""Lines read by a regular expression with named groups, such as logs."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError, RecordError, nearest
from streamlin.events import Batch, DeadLetter, Event, Records
from streamlin.formats.base import Format
from streamlin.formats.cells import Cells, batch_of_cells, wanted_names
from streamlin.formats.joined_lines import joined_lines
from streamlin.formats.log_presets import PRESETS, Preset
from streamlin.formats.matching import Matcher, Timed, seconds_of, simple
from streamlin.formats.utf8 import Indices, spans, texts_of
from streamlin.formats.values import Scalar

_NO_MATCH = "the line does not match the pattern"
_YEAR = re.compile(r"%[YyGcx]")


class RegexFormat(Format):
    """Named groups are the fields: `text` (required), `label`, `id`, `time`, `weight` and further ones.

    Options: `preset`; or `pattern`, with `match_seconds`, the processor time that a line may take, and `time_format`,
    as in `datetime.strptime` (UTC unless it has `%z`), for a `time` that is neither Unix seconds nor RFC 3339.

    The pattern must match the whole line. A group that did not take part in the match is an empty field; if it is the
    text, the line is a dead letter. With `multiline`, which joins lines to the first line before them, a dot of the
    pattern also matches line feeds.
    """

    name = "regex"
    no_label_hint = "name a group of the pattern (?P<label>…)"
    advice: Mapping[str, str] = MappingProxyType(
        {_NO_MATCH: "lines that continue the one before, as in stack traces, are joined by multiline=PATTERN"}
    )

    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> None:
        preset, joined = _preset(options), joined_lines(options)
        if joined is not None:
            self.framing, self.advice = joined, {}
        self._timed: Timed | None = None
        self._match, groups = self._matcher(preset.pattern, options, joined is not None)
        _check_groups(preset.pattern, groups, fields)
        self._names = [name for name in wanted_names(fields, extra) if name in groups]
        self._fields, self._extra, self._label = fields, extra, preset.label
        self._time: Callable[[str], Scalar] = str
        if preset.time_format is not None:
            self._time = _time_reader(preset.time_format)
            if fields.time not in groups:
                raise ConfigError(f"time_format needs a group '{fields.time}' in the pattern {preset.pattern}")

    def read_times_in(self, per_second: float) -> None:
        """See `Format`."""
        if self._time is not str and per_second != 1.0:
            raise ConfigError("time_unit is for times that are numbers; those of this pattern have a time_format")
        super().read_times_in(per_second)

    def decode(self, records: Records) -> tuple[Batch, list[DeadLetter]]:
        """See `Format`."""
        if self._timed is not None:
            self._timed.forget()
        return super().decode(records)

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`."""
        lines = texts_of(records.data, *spans(records, kept))
        matches = [self._match(line.replace("\r\n", "\n")) for line in lines]
        if None in matches:
            raise RecordError(_NO_MATCH)
        columns: dict[str, Cells] = {name: [match[name] for match in matches if match] for name in self._names}
        if self._label is not str and "label" in columns:
            columns["label"] = [cell and self._label(cell) for cell in columns["label"]]
        return batch_of_cells(records, kept, columns, self._fields, self._extra, self._time, self.per_second)

    def _matcher(self, pattern: str, options: Mapping[str, str], dot_all: bool) -> tuple[Matcher, tuple[str, ...]]:
        """What matches lines, and the names of the pattern's groups. dot_all : whether a dot matches line feeds."""
        if "preset" in options:
            if "match_seconds" in options:
                raise ConfigError(f"match_seconds is for a pattern, not for preset={options['preset']}")
            return simple(pattern, dot_all)
        self._timed = Timed(pattern, seconds_of(options.get("match_seconds")), lambda: self.is_stopped(), dot_all)
        return self._timed, self._timed.groups

    def encode(self, event: Event) -> bytes:
        """Raises RecordError: a pattern can't be used for writing."""
        raise RecordError("format regex can only be read; write json, csv, tsv, vw, fasttext or text")


def _preset(options: Mapping[str, str]) -> Preset:
    """The preset that the options name or define."""
    name, pattern = options.get("preset"), options.get("pattern")
    if pattern is not None:
        if name is not None:
            raise ConfigError(f"pattern and preset={name} exclude each other; give one of them")
        return Preset(pattern, options.get("time_format"))
    if name is None:
        raise ConfigError(f"format regex needs a pattern or a preset ({', '.join(PRESETS)})")
    if name not in PRESETS:
        raise ConfigError(f"unknown preset '{name}'; {nearest(name, PRESETS)}")
    if "time_format" in options:
        raise ConfigError(f"time_format is for a pattern; preset={name} has its own")
    return PRESETS[name]


def _check_groups(pattern: str, groups: Sequence[str], fields: FieldsConfig) -> None:
    for name in fields.text:
        if name not in groups:
            raise ConfigError(
                f"pattern {pattern} has no group (?P<{name}>…) for the text; name a group so, or set fields.text"
            )


def _time_reader(time_format: str) -> Callable[[str], float]:
    """A function that converts a time of that format to Unix seconds."""
    if not _YEAR.search(time_format):
        raise ConfigError(f"time_format {time_format} has no year; expected %Y or %y")
    try:
        datetime.strptime(datetime(2001, 2, 3, tzinfo=UTC).strftime(time_format), time_format)
    except ValueError as error:
        raise ConfigError(f"invalid time_format {time_format}: {error}") from None

    @lru_cache(maxsize=1024)  # adjacent lines often have the same time
    def seconds(cell: str) -> float:
        try:
            moment = datetime.strptime(cell, time_format)
        except ValueError:
            raise RecordError(f"time is {cell[:40]!r}, expected the format {time_format}") from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

    return seconds
