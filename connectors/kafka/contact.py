"""Whether a broker answers: what is told of it, and when patience ends."""

import time
from collections.abc import Callable

from streamlin.errors import ConnectorError

_REMIND_EVERY = 30.0
_GRACE = 0.5
"""Seconds that are not worth a word: a leader or coordinator is being chosen."""


class Contact:
    """Keeps an eye on how long no broker has answered.

    name : of the brokers, for people.
    first, later : seconds without an answer that are borne before there was any, and after that.
    notice : shows a line.
    clock : seconds.
    """

    def __init__(
        self,
        name: str,
        first: float,
        later: float,
        notice: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._notice, self._clock = name, notice, clock
        self._first, self._later = first, later
        self._ever = False
        self._since: float | None = None
        self._remind = 0.0
        self._attempts = 0

    @property
    def is_lost(self) -> bool:
        """Whether the last that was heard is that no broker answers."""
        return self._since is not None

    def patience(self) -> float:
        """Seconds that the next attempt may take: longer each time, for brokers far away, but not past the end."""
        self._attempts += 1
        if self._since is None and not self._ever:
            self._since = self._clock()
        left = (self._since or 0.0) + self._first - self._clock() if not self._ever else self._later
        return min(2.0**self._attempts, 10.0, max(left, _GRACE))

    def made(self) -> None:
        """A broker has answered."""
        if self._since is not None and self._remind:
            self._notice(f"the brokers at {self._name} answer again, after {self._clock() - self._since:.0f} s")
        self._ever, self._since, self._remind = True, None, 0.0

    def lost(self, error: ConnectorError) -> None:
        """None has. Raises ConnectorError where that lasts too long."""
        now = self._clock()
        if self._since is None:
            self._since = now
        patience = self._later if self._ever else self._first
        if now - self._since >= patience:
            key = "kafka.give_up_after" if self._ever else "kafka.connect_timeout"
            raise ConnectorError(f"{error}; given up after {patience:g} s ({key})")
        if now - self._since >= _GRACE and now >= self._remind:
            self._remind = now + _REMIND_EVERY
            self._notice(f"{error}; tried again for {patience - (now - self._since):.0f} s")
