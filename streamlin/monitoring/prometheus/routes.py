"""The paths for Prometheus, and for programs that check the run's health."""

import time

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from streamlin.monitoring.prometheus.watcher import Metrics

PATHS = ("/metrics", "/healthz", "/readyz")


def routes(metrics: Metrics, *collectors: Collector) -> list[Route]:
    """Routes for `PATHS`.

    collectors : of further metrics.
    """
    registry = _registry(metrics, *collectors)

    async def show_metrics(request: Request) -> Response:
        encode, kind = choose_encoder(request.headers.get("accept", ""))
        body = await run_in_threadpool(encode, registry)  # waits for the thread that learns
        return Response(body, headers={"Content-Type": kind})

    async def show_health(_: Request) -> Response:
        problem = metrics.health.problem(time.monotonic())
        return PlainTextResponse("ok\n") if problem is None else PlainTextResponse(f"{problem}\n", 503)

    async def show_readiness(_: Request) -> Response:
        if metrics.health.ready:
            return PlainTextResponse("ready\n")
        return PlainTextResponse("the run has not started reading yet\n", 503)

    handlers = (show_metrics, show_health, show_readiness)
    return [Route(path, handler) for path, handler in zip(PATHS, handlers, strict=True)]


def _registry(*collectors: Collector) -> CollectorRegistry:
    """The collectors, and those of the process and of Python."""
    registry = CollectorRegistry(auto_describe=False)
    for collector in collectors:
        registry.register(collector)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return registry
