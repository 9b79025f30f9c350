"""Serves metrics and health of a run."""

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp

from streamlin.config.serve import ServeConfig
from streamlin.monitoring.answering import plain_problem
from streamlin.monitoring.guard import NO_SNIFFING, HostCheck, ReadOnly, WithHeaders
from streamlin.monitoring.listener import Listener
from streamlin.monitoring.prometheus.routes import PATHS, routes
from streamlin.monitoring.prometheus.watcher import Metrics
from streamlin.monitoring.server import Server, ServerOptions


def serve_metrics(
    metrics: Metrics,
    listener: Listener,
    limits: ServeConfig | None = None,
    notice: Callable[[str], None] = lambda line: None,
) -> Server:
    """Serve `/metrics`, `/healthz` and `/readyz`. limits, notice : see `ServerOptions`."""
    limits = limits or ServeConfig()
    app = Starlette(routes=routes(metrics), exception_handlers={404: _not_found})
    app.router.redirect_slashes = False
    checked: ASGIApp = HostCheck(ReadOnly(app), listener, plain_problem, limits.hosts)
    options = ServerOptions(limits, notice=notice)
    return Server("streamlin-metrics", WithHeaders(checked, NO_SNIFFING), listener, options)


async def _not_found(_: Request, __: Exception) -> Response:
    return PlainTextResponse(f"unknown path: expected {', '.join(PATHS)}\n", 404)
