"""What is asked to watch a run, opened and closed with it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from streamlin.errors import ConfigError, missing
from streamlin.monitoring.options import MonitoringOptions
from streamlin.running.watching import Watcher

if TYPE_CHECKING:
    from streamlin.monitoring.listener import Listener


@contextmanager
def watchers(asked: MonitoringOptions, notice: Callable[[str], None]) -> Iterator[list[Watcher]]:
    """Those that were asked for, listening; `notice` shows the user where.

    Raises
    ------
    ConfigError : a port can't be had, or a package is missing.
    """
    with ExitStack() as opened:
        watching: list[Watcher] = []
        if asked.dashboard is not None:
            watching.append(_page(asked.dashboard, asked.hide_text, opened, notice))
        if asked.metrics is not None:
            watching.append(_metrics(asked.metrics, opened, notice))
        yield watching


def _page(address: str, hide_text: bool, opened: ExitStack, notice: Callable[[str], None]) -> Watcher:
    from streamlin.monitoring.dashboard.watcher import Dashboard
    from streamlin.monitoring.listener import listen

    try:
        from streamlin.monitoring.dashboard.server import Server
    except ModuleNotFoundError as error:
        raise ConfigError(missing("--dashboard", "dashboard", error)) from None
    listener = listen("--dashboard", address)
    dashboard = Dashboard(hide_text)
    opened.callback(Server(dashboard, listener).close)
    notice(f"the page is at {listener.url}{_openness(listener)}")
    return dashboard


def _metrics(address: str, opened: ExitStack, notice: Callable[[str], None]) -> Watcher:
    from streamlin.monitoring.listener import listen

    try:
        from streamlin.monitoring.prometheus.server import Server
        from streamlin.monitoring.prometheus.watcher import Metrics
    except ModuleNotFoundError as error:
        raise ConfigError(missing("--metrics", "metrics", error)) from None
    listener = listen("--metrics", address)
    metrics = Metrics()
    opened.callback(Server(metrics, listener).close)
    notice(f"metrics are at {listener.url}metrics, health at {listener.url}healthz and {listener.url}readyz")
    return metrics


def _openness(listener: "Listener") -> str:
    return "" if listener.is_local else "; everybody who reaches this machine can see it"
