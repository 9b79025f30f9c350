"""How long brokers have not answered: what the user is told, and when patience ends."""

import time
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from connectors.kafka.errors import UnreachableError
from streamlin.errors import ConnectorError

Answer = TypeVar("Answer")

_REMIND_EVERY = 30.0
_GRACE = 0.5
"""Seconds without an answer that are not reported: a leader or coordinator is being elected."""
SLICE = 1.0
"""Seconds that a call waits for a broker before it is reported that none answers."""


class Contact:
    """Tracks how long no broker has answered.

    name : of the brokers, for messages.
    first, later : seconds without an answer that are tolerated before the first answer, and after it.
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
        """Whether the brokers did not answer the last request."""
        return self._since is not None

    def patience(self) -> float:
        """Seconds that the next attempt to connect may take: longer each time, but not past the end."""
        self._attempts += 1
        if self._since is None and not self._ever:
            self._since = self._clock()
        left = (self._since or 0.0) + self._first - self._clock() if not self._ever else self._later
        return min(2.0**self._attempts, 10.0, max(left, _GRACE))

    def answered(self) -> bool:
        """Record that a broker has answered; returns whether brokers that had answered before were away."""
        were_away = self._ever and self._since is not None
        if self._since is not None and self._remind:
            self._notice(f"the brokers at {self._name} answer again, after {self._clock() - self._since:.0f} s")
        self._ever, self._since, self._remind = True, None, 0.0
        return were_away

    def unanswered(self, error: ConnectorError) -> None:
        """Record that no broker has answered. Raises ConnectorError when this lasts too long."""
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

    def silent(self) -> None:
        """The same, where a broker does not answer in time."""
        self.unanswered(UnreachableError(f"the brokers at {self._name} don't answer"))

    def retry(self, call: Callable[[], Answer], pause: float = 0.0) -> Answer:
        """The result of a call, repeated while it raises UnreachableError. Raises ConnectorError as `unanswered`."""
        while True:
            try:
                result = call()
            except UnreachableError as error:
                self.unanswered(error)
                time.sleep(pause)
            else:
                self.answered()
                return result

    def watch(self, call: Callable[[], object]) -> None:
        """Make a call that may block for long, on a thread of its own. Raises what it raises, and as `unanswered`."""
        failed: list[Exception] = []

        def attempt() -> None:
            try:
                call()
            except Exception as error:
                failed.append(error)

        thread = Thread(target=attempt, name="streamlin-transaction", daemon=True)
        thread.start()
        thread.join(SLICE)
        while thread.is_alive():
            self.silent()
            thread.join(SLICE)
        if failed:
            raise failed[0]
