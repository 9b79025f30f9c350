"""Limits of a connection that uvicorn does not have: of its headers' size, of idle time, and of its number."""

import asyncio
import http
import math
from collections.abc import Callable
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from streamlin.config.serve import ServeConfig
from streamlin.monitoring.connections import Connections
from streamlin.monitoring.health import PATHS

Problem = Callable[[int, str], Response]
"""The answer with a status and a reason."""
READ_OVER = 16
"""Up to this many times the allowed size is read and thrown away after an answer: a client that is still sending would
not see it."""


def with_limits(
    protocol: type[asyncio.Protocol], limits: ServeConfig, connections: Connections, problem: Problem
) -> Any:
    """The protocol of uvicorn, with the limits of a connection.

    limits : seconds and bytes. connections : where it is counted. problem : makes the answer where one is exceeded.
    """
    parts = (_Callbacks, _Limited) if hasattr(protocol, "on_headers_complete") else (_Limited,)
    attributes = {"limits": limits, "connections_": connections, "problem": staticmethod(problem)}
    return type(protocol.__name__, (*parts, protocol), attributes)


class _Limited(asyncio.Protocol):
    """Closes a connection on which the headers of a request, or the reading of an answer, take too long.

    Bytes that neither complete headers nor belong to a body are counted: headers and trailers are bounded.
    """

    limits: ServeConfig
    connections_: Connections
    problem: Problem
    app: ASGIApp
    transport: asyncio.Transport
    cycle: Any
    """uvicorn's; of the last request whose headers are complete, None before the first."""
    conn: Any
    """uvicorn's, of h11."""
    bound: str | None = None
    """The bound beyond which the connection is."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._unsent: float = 0
        self._room, self._refused = self.limits.max_header_bytes, False
        self.connections_.entered(self, self.bound is not None)
        if self.bound is not None:
            self.app = _only_health(self.app, self.problem(503, f"{self.bound}; try again"))
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self.connections_.left(self)
        super().connection_lost(exc)
        self._watch(False)

    def data_received(self, data: bytes) -> None:
        while data and not self.transport.is_closing():
            if self._refused:
                self._discard(data)
                return
            piece, data = data[: self._room], data[self._room :]
            self._progress = False
            super().data_received(piece)
            self._room = self.limits.max_header_bytes if self._has_progressed() else self._room - len(piece)
            if self._room <= 0:
                self.refuse(431, f"the headers are over serve.max_header_bytes = {self.limits.max_header_bytes:,}")
        if not self._is_waiting:
            self.connections_.is_busy(self)

    def eof_received(self) -> bool | None:
        """A client may close its side once its request is complete; it is still answered."""
        cycle = self.cycle
        if cycle is None or cycle.more_body or cycle.response_started or self._refused:
            return super().eof_received()
        cycle.keep_alive = False
        return True

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch()

    def on_response_complete(self) -> None:
        """uvicorn calls it once an answer is handed to the transport."""
        super().on_response_complete()  # type: ignore[misc]
        if self._is_waiting:
            self._wait()

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def refuse(self, status: int, reason: str) -> None:
        """Answer, unless an answer has begun, and read nothing more."""
        cycle = self.cycle
        if cycle is not None and cycle.response_started and not cycle.response_complete:
            self.transport.abort()
            return
        self._refused = True
        self._watch()
        self.transport.write(_serialized(self.problem(status, reason)))

    def give_up(self) -> None:
        """The server stops: refuse a request whose body has not arrived."""
        cycle = self.cycle
        if cycle is not None and cycle.more_body and not cycle.response_started and not self.transport.is_closing():
            self.refuse(503, "the server stops, and the body of the request has not arrived")
            self.transport.close()

    @property
    def _is_waiting(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _has_progressed(self) -> bool:
        """Whether the last bytes have completed headers, or belong to a body; h11 bounds what follows headers."""
        return str(self.conn.their_state) != "IDLE"

    def _wait(self) -> None:
        """Begin to wait for a request."""
        self.connections_.waits(self)
        self._watch()

    def _watch(self, wanted: bool = True) -> None:
        """Look after a while whether something has happened."""
        if self._timer is not None:
            self._timer.cancel()
        self._unsent = math.inf
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.limits.idle_seconds, self._look) if wanted else None

    def _look(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        if 0 < unsent < self._unsent:  # the client reads
            self._watch()
            self._unsent = unsent
        elif unsent or self._is_waiting or self._refused:
            self.transport.abort()

    def _discard(self, data: bytes) -> None:
        self._room -= len(data)
        if self._room < -READ_OVER * self.limits.max_header_bytes:
            self.transport.abort()


class _Callbacks:
    """For a protocol whose parser calls it, as that of httptools does."""

    _progress: bool

    def on_headers_complete(self) -> None:
        self._progress = True
        super().on_headers_complete()  # type: ignore[misc]

    def on_body(self, body: bytes) -> None:
        self._progress = True
        super().on_body(body)  # type: ignore[misc]

    def on_message_complete(self) -> None:
        self._progress = True
        super().on_message_complete()  # type: ignore[misc]

    def _has_progressed(self) -> bool:
        return self._progress


def _only_health(app: ASGIApp, refusal: ASGIApp) -> ASGIApp:
    """Answers requests for the health only."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await (app if scope["path"] in PATHS else refusal)(scope, receive, send)

    return answer


def _serialized(response: Response) -> bytes:
    """The bytes of an answer that ends its connection."""
    head = b"HTTP/1.1 %d %s" % (response.status_code, http.HTTPStatus(response.status_code).phrase.encode())
    headers = [name + b": " + value for name, value in response.raw_headers]
    return b"\r\n".join([head, *headers, b"connection: close", b"", bytes(response.body)])
