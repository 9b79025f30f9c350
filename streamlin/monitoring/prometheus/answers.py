"""What is answered to Prometheus, and to who asks after the run's health."""

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from streamlin.monitoring.prometheus.watcher import Metrics

TEXT = "text/plain; charset=utf-8"

Answer = tuple[int, str, bytes]
"""Status, type and body."""


def answers(metrics: Metrics, *collectors: Collector) -> dict[str, Callable[[str], Answer]]:
    """By path what is answered, given what the client accepts; `/metrics` waits for the thread that learns.

    collectors : of more figures.
    """
    registry = CollectorRegistry(auto_describe=False)
    for collector in (metrics, *collectors):
        registry.register(collector)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return {"/metrics": _metrics(registry), "/healthz": _health(metrics), "/readyz": _readiness(metrics)}


def _metrics(registry: CollectorRegistry) -> Callable[[str], Answer]:
    def answer(accept: str) -> Answer:
        encode, kind = choose_encoder(accept)
        return 200, kind, encode(registry)

    return answer


def _health(metrics: Metrics) -> Callable[[str], Answer]:
    def answer(_: str) -> Answer:
        trouble = metrics.health.trouble(time.monotonic())
        return (200, TEXT, b"ok\n") if trouble is None else (503, TEXT, f"{trouble}\n".encode())

    return answer


def _readiness(metrics: Metrics) -> Callable[[str], Answer]:
    def answer(_: str) -> Answer:
        ready = metrics.health.ready
        return (200, TEXT, b"ready\n") if ready else (503, TEXT, b"the run has not begun yet\n")

    return answer
