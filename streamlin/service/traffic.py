"""Counts and durations of requests, for Prometheus."""

import time
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Kind = TypeVar("Kind")
_GONE = 499
"""The status that nginx logs when the client closes the connection before the answer."""


class RequestMetrics:
    """Counts and durations of requests."""

    def __init__(self) -> None:
        self.count = Counter("streamlin_requests", "Requests.", ["path", "status"], registry=None)
        self.seconds = Histogram(
            "streamlin_request_seconds",
            "From a request's headers to the end of its answer.",
            ["path"],
            registry=None,
            buckets=_SECONDS,
        )
        self.in_flight = Gauge("streamlin_requests_in_flight", "Requests that are being processed.", registry=None)

    @property
    def collectors(self) -> tuple[Collector, ...]:
        """The metrics, for prometheus-client."""
        return self.count, self.seconds, self.in_flight


class _Cache(dict[Any, Kind]):
    """Results of `find` by its argument."""

    def __init__(self, find: Callable[[Any], Kind]) -> None:
        self._find = find

    def __missing__(self, key: Any) -> Kind:
        found = self[key] = self._find(key)
        return found


class Traffic:
    """Measures every request.

    app : answers the requests. paths : the known paths; all others are counted together.
    """

    def __init__(self, app: ASGIApp, paths: Collection[str], metrics: RequestMetrics) -> None:
        self._app, self._paths = app, paths
        # prometheus-client needs more time to look labels up than to count.
        self._counts: _Cache[Counter] = _Cache(lambda key: metrics.count.labels(*key))
        self._seconds: _Cache[Histogram] = _Cache(lambda path: metrics.seconds.labels(path))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        begin, status = time.perf_counter(), _GONE

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            path = scope["path"] if scope["path"] in self._paths else "other"
            self._counts[path, status].inc()
            self._seconds[path].observe(time.perf_counter() - begin)
