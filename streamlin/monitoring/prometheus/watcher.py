"""What of a run is handed to Prometheus, by the thread that learns, when it asks."""

import threading
import time
from typing import Any

from prometheus_client.core import Metric

from streamlin.monitoring.health import Health
from streamlin.monitoring.prometheus.families import families, gauge
from streamlin.running.watching import RunView, Watcher

_PATIENCE = 1.0
"""Seconds that a scrape waits for the thread that learns; then it gets what there was."""
_LOOK = 1.0
"""Seconds between two looks at the lag."""


class Metrics(Watcher):
    """Takes the run's figures once for each scrape, and keeps an eye on its health.

    A collector of prometheus-client: `collect` is called by the server's threads.
    """

    def __init__(self) -> None:
        self.health = Health()
        self._wanted, self._taken = threading.Event(), threading.Event()
        self._families: list[Metric] = []
        self._checkpoint_time: float | None = None
        self._next = 0.0

    def update(self, run: RunView) -> None:
        """Take the figures if they are wanted."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _LOOK
            self._look(run, now)
        if self._wanted.is_set():
            self.take(run)

    def finish(self, run: RunView, report: dict[str, Any]) -> None:
        """The last figures."""
        self.take(run)

    def collect(self) -> list[Metric]:
        """The figures, as fresh as can be."""
        self._taken.clear()
        self._wanted.set()
        self._taken.wait(_PATIENCE)
        return [*self._families, *self._age(), *self._readiness()]

    def take(self, run: RunView) -> None:
        """Take the figures; on the thread that learns."""
        self._wanted.clear()
        self._families, self._checkpoint_time = families(run), run.state.written
        self._taken.set()

    def _look(self, run: RunView, now: float) -> None:
        counts = run.model.prequential
        lag = run.lag()
        waiting = None if lag is None else sum(lag.values())
        self.health.seen(now, counts.events + counts.dead_letters + counts.tombstones, waiting)

    def _age(self) -> list[Metric]:
        if self._checkpoint_time is None:
            return []
        age = max(0.0, time.time() - self._checkpoint_time)
        return [gauge("checkpoint_age_seconds", "Time since the last checkpoint was written.", [((), age)])]

    def _readiness(self) -> list[Metric]:
        healthy = self.health.trouble(time.monotonic()) is None
        return [
            gauge("ready", "Whether the checkpoint is loaded and reading has begun.", [((), self.health.ready)]),
            gauge("healthy", "Whether the run goes on, or has nothing to do.", [((), healthy)]),
        ]
