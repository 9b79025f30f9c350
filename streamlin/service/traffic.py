"""What requests came, and how long they took, for Prometheus."""

import time
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Kind = TypeVar("Kind")
_GONE = 499
"""What nginx calls it when the client did not wait for the answer."""


class Figures:
    """Counts and times of requests."""

    def __init__(self) -> None:
        self.count = Counter("streamlin_requests", "Requests.", ["path", "status"], registry=None)
        self.seconds = Histogram(
            "streamlin_request_seconds",
            "From a request's headers to the end of its answer.",
            ["path"],
            registry=None,
            buckets=_SECONDS,
        )
        self.in_flight = Gauge("streamlin_requests_in_flight", "Requests that are being dealt with.", registry=None)

    @property
    def collectors(self) -> tuple[Collector, ...]:
        """For prometheus-client."""
        return self.count, self.seconds, self.in_flight


class _Found(dict[Any, Kind]):
    """Keeps what `find` gave."""

    def __init__(self, find: Callable[[Any], Kind]) -> None:
        self._find = find

    def __missing__(self, key: Any) -> Kind:
        found = self[key] = self._find(key)
        return found


class Traffic:
    """Measures every request.

    app : answers them. paths : those there are; all others are counted as one.
    """

    def __init__(self, app: ASGIApp, paths: Collection[str], figures: Figures) -> None:
        self._app, self._paths = app, paths
        # To find what is counted under some labels takes longer than to count.
        self._counts: _Found[Counter] = _Found(lambda key: figures.count.labels(*key))
        self._seconds: _Found[Histogram] = _Found(lambda path: figures.seconds.labels(path))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
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
