"""Serves the page and streams the run's snapshots to it."""

from collections.abc import Callable, Coroutine
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from streamlin.monitoring.dashboard.open_pages import OpenPages
from streamlin.monitoring.dashboard.static import FILES, content
from streamlin.monitoring.dashboard.watcher import Dashboard
from streamlin.monitoring.guard import NO_SNIFFING, HostCheck, ReadOnly, WithHeaders
from streamlin.monitoring.listener import Listener
from streamlin.monitoring.server import Server, ServerOptions

_MOST_PAGES = 100
_HEADERS = NO_SNIFFING | {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_OTHER_HOST = PlainTextResponse("the Host header does not name this machine\n", 400)


def serve_page(dashboard: Dashboard, listener: Listener) -> Server:
    """Serve the page that shows `dashboard`; at its end the server lets open pages have the last snapshot."""
    pages = OpenPages(dashboard)
    app: ASGIApp = HostCheck(ReadOnly(_app(pages)), listener, _OTHER_HOST, always=True)
    options = ServerOptions(connections=2 * _MOST_PAGES)
    return Server("streamlin-page", WithHeaders(app, _HEADERS), listener, options, alongside=pages.watch)


def _app(pages: OpenPages) -> Starlette:
    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        if pages.count >= _MOST_PAGES:
            return PlainTextResponse(f"{_MOST_PAGES} pages are open, which is the most that are served\n", 503)
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
