"""Serves metrics and health of a run."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp

from streamlin.monitoring.guard import NO_SNIFFING, HostCheck, ReadOnly, WithHeaders
from streamlin.monitoring.listener import Listener
from streamlin.monitoring.prometheus.routes import PATHS, routes
from streamlin.monitoring.prometheus.watcher import Metrics
from streamlin.monitoring.server import Server

_OTHER_HOST = PlainTextResponse("the Host header does not name this machine\n", 400)


def serve_metrics(metrics: Metrics, listener: Listener) -> Server:
    """Serve `/metrics`, `/healthz` and `/readyz`."""
    app = Starlette(routes=routes(metrics), exception_handlers={404: _not_found})
    app.router.redirect_slashes = False
    checked: ASGIApp = HostCheck(ReadOnly(app), listener, _OTHER_HOST)
    return Server("streamlin-metrics", WithHeaders(checked, NO_SNIFFING), listener)


async def _not_found(_: Request, __: Exception) -> Response:
    return PlainTextResponse(f"unknown path: expected {', '.join(PATHS)}\n", 404)
