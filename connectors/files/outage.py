"""Failures that pass: a network file system that has lost a file or its server."""

import errno
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from connectors.polling import PAUSE
from streamlin.errors import ConfigError, ConnectorError

_PASSING = {
    errno.EIO,
    errno.ESTALE,
    errno.EREMOTEIO,
    errno.ETIMEDOUT,
    errno.ENOTCONN,
    errno.ECONNABORTED,
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.EHOSTDOWN,
    errno.EHOSTUNREACH,
    errno.ENETDOWN,
    errno.ENETUNREACH,
    errno.ENOLINK,
    errno.ESHUTDOWN,
}
_LONGEST_PAUSE = 2.0
_GIVE_UP_AFTER = "300"


def seconds_of(options: Mapping[str, str]) -> float:
    """The option `give_up_after`. Raises ConfigError."""
    given = options.get("give_up_after", _GIVE_UP_AFTER)
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ConfigError(f"file source: give_up_after={given} needs to be a number of seconds, 0 or more")
    return seconds


def passes(error: OSError) -> bool:
    """Whether it may help to open the file again."""
    return error.errno in _PASSING


@contextmanager
def postponed() -> Iterator[None]:
    """Leave a failure that may pass to the next attempt."""
    try:
        yield
    except OSError as error:
        if not passes(error):
            raise


@contextmanager
def if_there() -> Iterator[None]:
    """Leave out what is not there or can't be read for good; a failure that may pass is raised."""
    try:
        yield
    except OSError as error:
        if passes(error):
            raise


class Outage:
    """Counts how long reading has failed, and when it is tried again.

    give_up_after : seconds after which a failure is taken to last.
    """

    def __init__(self, give_up_after: float, notice: Callable[[str], None]) -> None:
        self._give_up_after, self._notice = give_up_after, notice
        self._began: float | None = None
        self._pause, self._next = PAUSE, 0.0

    @property
    def is_pausing(self) -> bool:
        """Whether it is too early to try again."""
        return self._began is not None and time.monotonic() < self._next

    def failed(self, error: OSError, path: str) -> None:
        """Reading has failed. Raises ConnectorError if this does not pass."""
        what, now = f"{path} can't be read: {error.strerror or error}", time.monotonic()
        if not passes(error):
            raise ConnectorError(what) from error
        if self._began is None:
            self._began = now
            self._notice(f"{what}; it is opened again for up to {self._give_up_after:g} s (give_up_after)")
        if now - self._began >= self._give_up_after:
            raise ConnectorError(
                f"{what}, since {now - self._began:.0f} s (give_up_after={self._give_up_after:g})"
            ) from error
        self._next, self._pause = now + self._pause, min(2 * self._pause, _LONGEST_PAUSE)

    def passed(self) -> None:
        """Reading has succeeded."""
        if self._began is not None:
            self._began, self._pause = None, PAUSE
            self._notice("the file can be read again; reading goes on behind the same bytes")
