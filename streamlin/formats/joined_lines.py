"""Framing of records of several lines, such as stack traces: a record begins at a line that matches a pattern."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.events import Framing
from streamlin.formats.framing import Lines
from streamlin.formats.matching import SECONDS

_LINES = 1000
_LONGEST = 10_000_000
_MARKS = "\0\ufeff"
_LF = 0x0A
_LONG = 1000
"""Characters; only for longer lines other threads go on while a pattern is matched, which takes some time itself."""
_LINE_ENDS = re.compile(rb"(?:\r?\n)+\Z|\r\Z")

Bounds = tuple[int, int]


class JoinedLines:
    """Framing of records of several lines. See `streamlin.events.Framing`.

    Lines that do not match belong to the record before them, which ends where the next line matches, or where another
    line would exceed a limit: then the rest is a record too. Until then the record is incomplete. The line ends at its
    end are dropped.

    Parameters
    ----------
    pattern : of the package `regex`; matches the beginning of a record's first line.
    most : the number of lines that a record may have.

    Attributes
    ----------
    longest : the number of bytes that a record of several lines may have.
    single : the framing of records that are too long to keep: these are single lines.
    """

    header = False

    def __init__(self, pattern: Any, most: int = _LINES) -> None:
        self._pattern, self._most = pattern, most
        self.longest = _LONGEST
        self._cut_at: int | None = None
        self.single: Framing = Lines()

    def __call__(self, data: bytes, final: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """starts int64[n], ends int64[n], and the number of bytes consumed."""
        bounds, consumed, self._cut_at = list[Bounds](), 0, None
        for begin, end in self._records(data, final):
            stop = begin + len(_trimmed(data[begin:end]))
            bounds += [(begin, stop)] if begin < stop else []
            consumed = end
        starts, ends = np.array(bounds, np.int64).reshape(-1, 2).T.copy()
        return starts, ends, consumed

    def remark(self, data: bytes, starts: NDArray[np.int64], consumed: int) -> tuple[int, str] | None:
        """See `streamlin.events.Framing`: the first record that a limit ended."""
        if self._cut_at is None:
            return None
        return self._cut_at, (
            f"an event has reached the limit of {self._most:,} lines (multiline_lines) or {self.longest:,} bytes "
            "(pipeline.max_record_bytes); its other lines are an event of their own; is the pattern of multiline right?"
        )

    def _records(self, data: bytes, final: bool) -> Iterator[Bounds]:
        """The bounds of complete records, with their line ends."""
        begin = lines = 0
        for start, end in _lines(data):
            is_whole = final or data[end - 1] == _LF
            is_first = is_whole and self._matches(data[start:end])
            is_full = _size(data, begin, end) > self.longest
            if lines and (is_first or is_full):
                self._note_cut(begin, is_full and not is_first)
                yield begin, start
                begin = start
                lines = 0
            if not lines and is_whole and not _trimmed(data[start:end]).lstrip(b"\0"):
                yield start, end  # an empty line before a record belongs to none
                begin = end
                continue
            lines += 1
            if is_whole and (lines == self._most or _size(data, begin, end) > self.longest):
                self._note_cut(begin, lines > 1)
                yield begin, end
                begin = end
                lines = 0
        if final and begin < len(data):
            yield begin, len(data)

    def _note_cut(self, begin: int, is_cut: bool) -> None:
        """Note where the first record begins that a limit has ended."""
        if is_cut and self._cut_at is None:
            self._cut_at = begin

    def _matches(self, line: bytes) -> bool:
        """Whether a line is a first one. Raises ConfigError if that takes too long: it can't be told then."""
        text = _trimmed(line).decode(errors="replace").lstrip(_MARKS)
        try:
            return self._pattern.match(text, timeout=SECONDS, concurrent=len(text) > _LONG) is not None
        except TimeoutError:
            raise ConfigError(
                f"multiline={self._pattern.pattern} needs longer than {SECONDS:g} s for the line {text!r:.60}; "
                "expected a pattern without nested repetitions"
            ) from None


def _trimmed(record: bytes) -> bytes:
    """Without the line ends at its end."""
    return _LINE_ENDS.sub(b"", record) if record[-1:] in (b"\r", b"\n") else record


def _size(data: bytes, begin: int, end: int) -> int:
    """Bytes without the NULs at the beginning, which a source may drop."""
    return end - begin if data[begin] else len(data[begin:end].lstrip(b"\0"))


def _lines(data: bytes) -> Iterator[Bounds]:
    """The bounds of all lines with their line ends; the last one may lack it."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield start, end
        start = end


def joined_lines(options: Mapping[str, str]) -> JoinedLines | None:
    """The framing that the options of a format ask for; None without `multiline`.

    Raises ConfigError for a pattern that does not compile or matches every line, and for a bad limit.
    """
    pattern, most = options.get("multiline"), options.get("multiline_lines", str(_LINES))
    if pattern is None:
        if "multiline_lines" in options:
            raise ConfigError("multiline_lines is the limit of multiline=PATTERN, which is not given")
        return None
    import regex  # only patterns of users need it

    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise ConfigError(f"multiline={pattern} does not compile: {error}") from None
    if compiled.match("") is not None:
        raise ConfigError(
            f"multiline={pattern} matches every line; expected a pattern for the first line of each event"
        )
    if not most.isascii() or not most.isdecimal() or int(most) < 1:
        raise ConfigError(f"multiline_lines={most}: expected a whole number >= 1")
    return JoinedLines(compiled, int(most))
