"""The open connections of a server, bounded by their number and by the files that the process may have open."""

import resource
from collections.abc import Callable
from typing import Protocol

from streamlin.config.serve import ServeConfig

_MOST_CROWDED = 8
"""Connections that are kept beyond the bounds, to ask for the health."""


class Connection(Protocol):
    """A connection that can be ended."""

    def abort(self) -> None:
        """Close it at once."""


class Connections:
    """Decides which connections are kept. For use on one event loop.

    Beyond a bound, a new connection takes the place of the one that has waited longest for a request: clients who
    send requests are served, however many others are connected and silent. The bound of files holds for all servers
    of a process, and leaves files for checkpoints and outputs.

    Parameters
    ----------
    limits : the bounds.
    notice : is called with a line when a bound is met for the first time.
    """

    def __init__(self, limits: ServeConfig, notice: Callable[[str], None]) -> None:
        self._limits, self._notice = limits, notice
        self._open: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}  # in the order in which they began to wait
        self._crowded: set[Connection] = set()
        self._told = False

    def make_room(self, descriptor: int) -> str | None:
        """Make room for a new connection; None, or the bound that is met if all others have requests.

        descriptor : of the new connection. The system gives the lowest one that is free.
        """
        bound = self._bound(descriptor)
        if bound is None:
            return None
        if not self._told:
            self._told = True
            self._notice(f"{bound}; for a new connection the one that has waited longest is closed")
        oldest = next(iter(self._waiting), None)
        if oldest is None:
            return bound
        self.left(oldest)
        oldest.abort()
        return None

    @property
    def is_crowded(self) -> bool:
        """Whether not even a connection that may ask for the health can be kept."""
        return len(self._crowded) >= _MOST_CROWDED

    def entered(self, connection: Connection, is_crowded: bool) -> None:
        """A connection is open. is_crowded : it is beyond a bound."""
        self._open.add(connection)
        if is_crowded:
            self._crowded.add(connection)

    def waits(self, connection: Connection) -> None:
        """A connection begins to wait for a request."""
        self._waiting.pop(connection, None)
        if connection in self._open:
            self._waiting[connection] = None

    def is_busy(self, connection: Connection) -> None:
        """A request has arrived."""
        self._waiting.pop(connection, None)

    def left(self, connection: Connection) -> None:
        """A connection is closed."""
        self._open.discard(connection)
        self._crowded.discard(connection)
        self._waiting.pop(connection, None)

    def _bound(self, descriptor: int) -> str | None:
        """The bound that is met, for people."""
        if len(self._open) >= self._limits.max_connections:
            return f"serve.max_connections = {self._limits.max_connections:,} connections are open"
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        reserved = min(self._limits.reserved_files, files // 2)
        if files != resource.RLIM_INFINITY and descriptor >= files - reserved:
            return f"of {files:,} open files (ulimit -n) all are in use but serve.reserved_files = {reserved:,}"
        return None
