"""The HTTP server of the page, the metrics and the service: a thread that serves one application on one socket."""

import asyncio
import math
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from streamlin.config.serve import ServeConfig
from streamlin.monitoring.answering import Answering, plain_problem
from streamlin.monitoring.connections import Connections
from streamlin.monitoring.limited_protocol import Problem, with_limits
from streamlin.monitoring.listener import Listener
from streamlin.monitoring.uvicorn_server import UvicornServer


@dataclass(frozen=True)
class ServerOptions:
    """Limits of a server, and its parts.

    limits : of connections.
    end_seconds : that running requests have to finish once the server stops; then they are cancelled.
    protocol : uvicorn's implementation of HTTP.
    event_loop : makes the event loop.
    problem : makes the answers to requests that can't be fulfilled.
    notice : shows the user a line; called on the server's thread.
    """

    limits: ServeConfig = field(default_factory=ServeConfig)
    end_seconds: int = 1
    protocol: type[asyncio.Protocol] = H11Protocol
    event_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    problem: Problem = plain_problem
    notice: Callable[[str], None] = lambda line: None


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
        self._alongside, self._ended = alongside, ended
        self._error: BaseException | None = None
        self._connections = Connections(self._options.limits, self._options.notice)
        app = Answering(app, self._options.problem, self._options.notice)
        config = _config(app, self._options, self._connections)
        self._uvicorn = UvicornServer(config, listener.socket, self._connections)
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Accept no more connections, and end once running requests are answered. Returns at once; any thread."""
        self._uvicorn.should_exit = True

    def close(self, at_once: bool = False) -> None:
        """Stop, and wait for the end. Raises the error that ended the thread, if one did.

        at_once : do not wait for running requests.
        """
        self._uvicorn.force_exit = at_once
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
            self._connections.close()
            self._ended()

    async def _serve_until_stopped(self) -> None:
        beside = None if self._alongside is None else asyncio.create_task(self._alongside())
        await self._uvicorn.serve()
        if beside is not None:
            beside.cancel()


def _config(app: ASGIApp, options: ServerOptions, connections: Connections) -> uvicorn.Config:
    limits = options.limits
    return uvicorn.Config(
        app,
        http=with_limits(options.protocol, limits, connections, options.problem),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",  # which uvicorn never logs: `Answering` tells of failures
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=limits.max_header_bytes,
        timeout_keep_alive=math.ceil(limits.idle_seconds),
        timeout_graceful_shutdown=options.end_seconds,
    )
