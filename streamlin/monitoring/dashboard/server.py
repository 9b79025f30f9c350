"""Hands the page out, and what is new to every page that is open; on a thread of its own."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from streamlin.monitoring.dashboard.frames import Frame
from streamlin.monitoring.dashboard.guard import Guard
from streamlin.monitoring.dashboard.static import FILES, content
from streamlin.monitoring.dashboard.watcher import Dashboard
from streamlin.monitoring.listener import Listener

_LOOK = 0.25
"""Seconds between two looks for a new snapshot."""
_QUIET = 10.0
"""Seconds without news after which a page is told that the run is still there."""
_FAREWELL = 1.0
"""Seconds that the end of a run waits for pages to take the last snapshot."""
_MOST_PAGES = 100


class Pages:
    """The open pages: each gets every snapshot, or, where it is slow, the latest one when it is ready for it."""

    def __init__(self, dashboard: Dashboard) -> None:
        self._dashboard = dashboard
        self._frame: Frame | None = None
        self._snapshot: Callable[[], dict[str, Any]] | None = None
        self._news = asyncio.Condition()
        self.open = 0

    async def watch(self) -> None:
        """Look for new snapshots, for ever; they are made into frames once for all pages."""
        while True:
            if self.open:
                self._dashboard.ask()
            await self.look()
            await asyncio.sleep(_LOOK)

    async def look(self) -> None:
        """Make a frame of the latest snapshot, if it is a new one that somebody waits for."""
        latest = self._dashboard.latest
        if latest is None or latest is self._snapshot or not self.open:
            return
        async with self._news:
            self._frame, self._snapshot = Frame(latest(), self._frame), latest
            self._news.notify_all()

    async def messages(self) -> AsyncIterator[bytes]:
        """What one page is sent."""
        self.open += 1
        try:
            seen = 0
            while True:
                frame = await self._behind(seen)
                if frame is None:
                    yield b": still there\n\n"
                    continue
                yield frame.news if frame.number == seen + 1 else frame.whole
                if frame.done:
                    return
                seen = frame.number
        finally:
            self.open -= 1

    async def _behind(self, seen: int) -> Frame | None:
        """The latest frame, once it is another than that; None if none comes for a while."""
        async with self._news:
            try:
                async with asyncio.timeout(_QUIET):
                    await self._news.wait_for(lambda: self._frame is not None and self._frame.number != seen)
            except TimeoutError:
                return None
            return self._frame


class Server:
    """A thread that serves the page until `close`.

    Parameters
    ----------
    dashboard : whose snapshots are shown.
    listener : where.
    """

    def __init__(self, dashboard: Dashboard, listener: Listener) -> None:
        self._listener, self._pages = listener, Pages(dashboard)
        self._loop = asyncio.new_event_loop()
        config = uvicorn.Config(
            self._app(),
            log_config=None,
            log_level="critical",  # standard error is the run's; a client's mistakes are no news of it
            access_log=False,
            lifespan="off",
            ws="none",
            http="h11",
            loop="asyncio",
            server_header=False,
            limit_concurrency=2 * _MOST_PAGES,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="streamlin-page", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let open pages have the last snapshot, and end."""
        if self._pages.open:
            asyncio.run_coroutine_threadsafe(self._farewell(), self._loop).result(2 * _FAREWELL)
        self._server.should_exit = True
        self._thread.join(2 * _FAREWELL)

    async def _farewell(self) -> None:
        await self._pages.look()
        for _ in range(20):
            if not self._pages.open:
                break
            await asyncio.sleep(_FAREWELL / 20)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve_and_watch())
        self._loop.close()

    async def _serve_and_watch(self) -> None:
        watching = asyncio.create_task(self._pages.watch())
        await self._server.serve(sockets=[self._listener.socket])
        watching.cancel()

    def _app(self) -> ASGIApp:
        routes = [Route(f"/{name}", _file(name, kind)) for name, kind in FILES.items()]
        routes.append(Route("/", _file("index.html", FILES["index.html"])))
        routes.append(Route("/events", self._events))
        app = Starlette(routes=routes)
        app.router.redirect_slashes = False
        return Guard(app, self._listener)

    async def _events(self, request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        if self._pages.open >= _MOST_PAGES:
            return PlainTextResponse(f"{_MOST_PAGES} pages are open, no more are served\n", 503)
        return StreamingResponse(self._pages.messages(), media_type="text/event-stream")


def _file(name: str, kind: str) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """Answers with a file of the page."""
    body = content(name).encode()

    async def answer(request: Request) -> Response:
        return Response(body, media_type=kind)

    return answer
