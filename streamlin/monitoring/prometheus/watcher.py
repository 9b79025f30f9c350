"""Hands a run's metrics to Prometheus: collected by the thread that learns, when a scrape asks for them."""

import threading
import time
from typing import Any

from prometheus_client.core import Metric

from streamlin.monitoring.health import Health
from streamlin.monitoring.prometheus.families import families, gauge
from streamlin.running.watching import RunView, Watcher

_PATIENCE = 1.0
"""Seconds that a scrape waits for the thread that learns; after that it gets the previous metrics."""
_PERIOD = 1.0
"""Seconds between two looks at the lag."""


class Metrics(Watcher):
    """Collects the run's metrics once for each scrape, and records its health.

    A collector of prometheus-client: the server's threads call `collect`.
    """

    def __init__(self) -> None:
        self.health = Health()
        self._requested, self._fresh = threading.Event(), threading.Event()
        self._families: list[Metric] = []
        self._checkpoint_time: float | None = None
        self._next = 0.0

    def update(self, run: RunView) -> None:
        """Collect the metrics if a scrape waits for them; on the thread that learns."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PERIOD
            self._record_health(run, now)
        if self._requested.is_set():
            self.refresh(run)

    def finish(self, run: RunView, report: dict[str, Any]) -> None:
        """Collect the last metrics."""
        self.refresh(run)

    def collect(self) -> list[Metric]:
        """The metrics, as fresh as the thread that learns can give them."""
        self._fresh.clear()
        self._requested.set()
        self._fresh.wait(_PATIENCE)
        return [*self._families, *self._age(), *self._readiness()]

    def refresh(self, run: RunView) -> None:
        """Collect the metrics; on the thread that learns."""
        self._requested.clear()
        self._families, self._checkpoint_time = families(run), run.state.written
        self._fresh.set()

    def _record_health(self, run: RunView, now: float) -> None:
        counts = run.model.prequential
        lag = run.lag()
        waiting = None if lag is None else sum(lag.values())
        self.health.record(now, counts.events + counts.dead_letters + counts.tombstones, waiting)

    def _age(self) -> list[Metric]:
        if self._checkpoint_time is None:
            return []
        age = max(0.0, time.time() - self._checkpoint_time)
        return [gauge("checkpoint_age_seconds", "Time since the last checkpoint was written.", [((), age)])]

    def _readiness(self) -> list[Metric]:
        healthy = self.health.problem(time.monotonic()) is None
        return [
            gauge("ready", "Whether the checkpoint is loaded and reading has begun.", [((), self.health.ready)]),
            gauge("healthy", "Whether the run makes progress, or has nothing to do.", [((), healthy)]),
        ]
