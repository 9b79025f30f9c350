"""Serves the application on a thread of its own."""

import asyncio
import threading
from collections.abc import Callable

import uvicorn
import uvloop
from starlette.types import ASGIApp

from streamlin.monitoring.listener import Listener

_LOOK = 0.05
"""Seconds between two looks at whether to stop."""
_FAREWELL = 10
"""Seconds that requests which were begun have to end."""
_MOST_CONNECTIONS = 4096


class Server:
    """A thread that serves until `stop` is set, then until every request that was begun is answered.

    app : what answers. listener : where. stop : set by anybody. ended : called at the end, whatever happened.
    """

    def __init__(self, app: ASGIApp, listener: Listener, stop: threading.Event, ended: Callable[[], None]) -> None:
        self._listener, self._stop, self._ended = listener, stop, ended
        self._error: BaseException | None = None
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            http="httptools",
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_FAREWELL,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="streamlin-service", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait for the end. Raises what went wrong."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _serve(self) -> None:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._serve_until_stopped())
        except BaseException as error:  # raised again by who waits for the end
            self._error = error
        finally:
            self._ended()

    async def _serve_until_stopped(self) -> None:
        watching = asyncio.create_task(self._watch())
        await self._server.serve(sockets=[self._listener.socket])
        watching.cancel()

    async def _watch(self) -> None:
        while not self._stop.is_set():
            await asyncio.sleep(_LOOK)
        self._server.should_exit = True
