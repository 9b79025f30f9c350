"""Serves the page and streams the run's snapshots to it."""

from collections.abc import Callable, Coroutine
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from streamlin.config.serve import ServeConfig
from streamlin.monitoring.answering import plain_problem
from streamlin.monitoring.dashboard.open_pages import OpenPages
from streamlin.monitoring.dashboard.static import FILES, content
from streamlin.monitoring.dashboard.watcher import Dashboard
from streamlin.monitoring.guard import NO_SNIFFING, HostCheck, ReadOnly, WithHeaders
from streamlin.monitoring.listener import Listener
from streamlin.monitoring.server import Server, ServerOptions

HEADERS = NO_SNIFFING | {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def serve_page(
    dashboard: Dashboard,
    listener: Listener,
    limits: ServeConfig | None = None,
    notice: Callable[[str], None] = lambda line: None,
) -> Server:
    """Serve the page that shows `dashboard`; at its end the server lets open pages have the last snapshot.

    limits, notice : see `ServerOptions`.
    """
    limits = limits or ServeConfig()
    pages = OpenPages(dashboard)
    inner = ReadOnly(_app(pages, limits.max_pages))
    app: ASGIApp = HostCheck(inner, listener, plain_problem, limits.hosts, always=True)
    options = ServerOptions(limits, notice=notice)
    return Server("streamlin-page", WithHeaders(app, HEADERS), listener, options, alongside=pages.watch)


def _app(pages: OpenPages, most: int) -> Starlette:
    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        if pages.count >= most:
            return PlainTextResponse(f"serve.max_pages = {most:,} pages are open; try again\n", 503)
        return StreamingResponse(pages.messages(), media_type="text/event-stream")

    routes = [Route(f"/{name}", _file(name, kind)) for name, kind in FILES.items()]
    app = Starlette(routes=[*routes, Route("/", _file("index.html", FILES["index.html"])), Route("/events", events)])
    app.router.redirect_slashes = False
    return app


def _file(name: str, kind: str) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """Answers with a file of the page."""
    body = content(name).encode()

    async def answer(request: Request) -> Response:
        return Response(body, media_type=kind)

    return answer
