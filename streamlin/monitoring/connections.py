"""The open connections of a server, bounded by their number and by the files that the process may have open."""

import os
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
    """Decides which connections are kept. For use on one event loop, except for its construction and end.

    Beyond a bound, a new connection takes the place of the one that has waited longest for a request: clients who
    send requests are served, however many others are connected and silent. The servers of a process share the files
    that it may have open, and leave some for checkpoints, outputs and sources.

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
        self._in_use = len(os.listdir("/proc/self/fd"))
        self._told = False
        _SERVERS.add(self)

    def close(self) -> None:
        """The server has ended."""
        _SERVERS.discard(self)

    def make_room(self, descriptor: int) -> str | None:
        """Make room for a new connection; None, or the bound that is met if all others have requests.

        descriptor : of the new connection.
        """
        bound = self._bound(descriptor)
        if bound is None:
            return None
        if not self._told:
            self._told = True
            self._notice(f"{bound}; for a new connection the one that has waited longest is closed")
        oldest = next((one for one in self._waiting if one not in self._crowded), None)
        if oldest is not None:
            self._end(oldest)
            return None
        if len(self._crowded) >= _MOST_CROWDED and self._waiting:
            self._end(next(iter(self._waiting)))
        return bound

    def can_keep(self, descriptor: int, bound: str | None) -> bool:
        """Whether a new connection can be kept, beyond the bound to ask for the health."""
        return not self._takes_reserve(descriptor) and (bound is None or len(self._crowded) < _MOST_CROWDED)

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

    def _end(self, connection: Connection) -> None:
        self.left(connection)
        connection.abort()

    def _bound(self, descriptor: int) -> str | None:
        """The bound that is met, for people."""
        most, (files, reserved) = self._limits.max_connections, self._files()
        room = max(1, (files - reserved - self._in_use) // max(1, len(_SERVERS)))
        if len(self._open) >= min(most, room) or self._takes_reserve(descriptor):
            if most <= room:
                return f"serve.max_connections = {most:,} connections are open"
            return (
                f"{room:,} connections are open, which are all that {files:,} open files (ulimit -n) allow "
                f"beside serve.reserved_files = {reserved:,}"
            )
        return None

    def _takes_reserve(self, descriptor: int) -> bool:
        """Whether so much of the reserve is in use already that a connection would be at its expense.

        The system gives the lowest descriptor that is free.
        """
        files, reserved = self._files()
        return descriptor >= files - reserved // 2

    def _files(self) -> tuple[int, int]:
        """How many files may be open, and how many of these are not for connections."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files == resource.RLIM_INFINITY:
            files = 1 << 30
        return files, min(self._limits.reserved_files, files // 2)


_SERVERS = set[Connections]()
"""Those of the servers that run in this process."""
