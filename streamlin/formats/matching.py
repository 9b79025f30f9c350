"""Matching whole lines by a pattern, with a limit of time: some patterns backtrack for hours on forty characters.

A pattern of the user is matched by the package `regex`, which understands the patterns of `re` and can be interrupted.
"""

import re
from collections.abc import Callable
from typing import Any, Protocol

from streamlin.errors import ConfigError, RecordError
from streamlin.formats.base import Interrupted

_AT_ONCE = 0.02
"""Seconds of processor time in which other threads wait. Nearly every line needs some microseconds."""
SECONDS = 0.25
_MOST_SECONDS = 3600.0


class Match(Protocol):
    """A match, by the name of its groups."""

    def __getitem__(self, group: str) -> Any: ...


Matcher = Callable[[str], Match | None]


class Timed:
    """Matches lines, each for a limited time.

    Parameters
    ----------
    pattern : as for `re.compile`.
    seconds : of processor time for each line.
    is_stopped : whether the run was asked to end.
    dot_all : whether a dot also matches line feeds.

    Raises
    ------
    ConfigError : the pattern is invalid.
    """

    def __init__(self, pattern: str, seconds: float, is_stopped: Callable[[], bool], dot_all: bool = False) -> None:
        import regex  # only patterns of users need it

        try:
            self._pattern: Any = regex.compile(pattern, regex.DOTALL if dot_all else 0)
        except regex.error as error:
            raise ConfigError(f"pattern {pattern} does not compile: {error}") from None
        self._seconds, self._is_stopped = seconds, is_stopped
        self._slow = set[str]()
        self.groups: tuple[str, ...] = tuple(self._pattern.groupindex)

    def forget(self) -> None:
        """Forget which lines took too long; until then each is tried once."""
        self._slow.clear()

    def __call__(self, line: str) -> Match | None:
        """The match of the whole line. Raises RecordError if it takes too long, Interrupted if the run should end."""
        if not self._slow or line not in self._slow:
            try:
                found: Match | None = self._pattern.fullmatch(line, timeout=min(_AT_ONCE, self._seconds))
                return found
            except TimeoutError:
                return self._match_long(line)
        raise self._too_slow()

    def _match_long(self, line: str) -> Match | None:
        """The match, while other threads go on."""
        if self._is_stopped():
            raise Interrupted
        try:
            found: Match | None = self._pattern.fullmatch(line, timeout=self._seconds, concurrent=True)
            return found
        except TimeoutError:
            self._slow.add(line)
            raise self._too_slow() from None

    def _too_slow(self) -> RecordError:
        return RecordError(f"the pattern needs longer than match_seconds={self._seconds:g} for the line")


def simple(pattern: str, dot_all: bool = False) -> tuple[Matcher, tuple[str, ...]]:
    """A matcher for a pattern that is known not to backtrack much, and the names of its groups."""
    compiled = re.compile(pattern, re.DOTALL if dot_all else re.NOFLAG)
    return compiled.fullmatch, tuple(compiled.groupindex)


def seconds_of(text: str | None) -> float:
    """The option `match_seconds`. Raises ConfigError."""
    if text is None:
        return SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= _MOST_SECONDS:
        raise ConfigError(f"match_seconds={text}: expected a number of seconds above 0, at most {_MOST_SECONDS:g}")
    return seconds
