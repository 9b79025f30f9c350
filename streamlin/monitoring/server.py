"""The HTTP server of the page, the metrics and the service: a thread that serves one application on one socket."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from streamlin.monitoring.head_timeout import with_head_timeout
from streamlin.monitoring.listener import Listener


@dataclass(frozen=True)
class ServerOptions:
    """Limits of a server, and its parts.

    connections : how many may be open; requests on further ones are answered with 503.
    head_seconds : until a new connection must have sent the headers of its first request.
    end_seconds : that running requests have to finish once the server stops; then they are cancelled.
    protocol : uvicorn's implementation of HTTP.
    event_loop : makes the event loop.
    log_level : of uvicorn's messages on standard error, where a run prints its own; "critical" prints none.
    """

    connections: int = 200
    head_seconds: float = 10.0
    end_seconds: int = 1
    protocol: type[asyncio.Protocol] = H11Protocol
    event_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    log_level: str = "critical"


class Server:
    """Serves on a thread of its own from its construction until `stop`.

    Parameters
    ----------
    name : of the thread.
    app : the application. listener : where it is served; closed at the end.
    options : limits, see there.
    alongside : started on the server's event loop and cancelled at the end.
    ended : called on the server's thread when it ends, after an error too.
    """

    def __init__(
        self,
        name: str,
        app: ASGIApp,
        listener: Listener,
        options: ServerOptions | None = None,
        alongside: Callable[[], Coroutine[Any, Any, None]] | None = None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        self._options = options or ServerOptions()
        self._listener, self._alongside, self._ended = listener, alongside, ended
        self._error: BaseException | None = None
        self._uvicorn = uvicorn.Server(_config(app, self._options))
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Accept no more connections, and end once running requests are answered. Returns at once; any thread."""
        self._uvicorn.should_exit = True

    def close(self) -> None:
        """Stop, and wait for the end. Raises the error that ended the thread, if one did."""
        self.stop()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _serve(self) -> None:
        try:
            with asyncio.Runner(loop_factory=self._options.event_loop) as runner:
                runner.run(self._serve_until_stopped())
        except BaseException as error:  # raised again by `close`
            self._error = error
        finally:
            self._ended()

    async def _serve_until_stopped(self) -> None:
        beside = None if self._alongside is None else asyncio.create_task(self._alongside())
        await self._uvicorn.serve(sockets=[self._listener.socket])
        if beside is not None:
            beside.cancel()


def _config(app: ASGIApp, options: ServerOptions) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=with_head_timeout(options.protocol, options.head_seconds),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=options.log_level,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=options.connections,
        timeout_graceful_shutdown=options.end_seconds,
    )
