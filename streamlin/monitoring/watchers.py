"""The watchers that the command line asks for, opened and closed with the run."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from streamlin.config.serve import ServeConfig
from streamlin.errors import ConfigError, missing
from streamlin.monitoring.listener import Listener, listen
from streamlin.monitoring.options import MonitoringOptions
from streamlin.running.watching import Watcher


@contextmanager
def watchers(options: MonitoringOptions, limits: ServeConfig, notice: Callable[[str], None]) -> Iterator[list[Watcher]]:
    """The watchers, being served until the context ends; `notice` shows the user their addresses.

    limits : of the servers.

    Raises
    ------
    ConfigError : nothing can listen on an address, or a package is missing.
    """
    with ExitStack() as opened:
        watching: list[Watcher] = []
        if options.dashboard is not None:
            watching.append(_page(options.dashboard, options.hide_text, limits, opened, notice))
        if options.metrics is not None:
            watching.append(_metrics(options.metrics, limits, opened, notice))
        yield watching


def _page(
    address: str, hide_text: bool, limits: ServeConfig, opened: ExitStack, notice: Callable[[str], None]
) -> Watcher:
    try:
        from streamlin.monitoring.dashboard.server import serve_page
        from streamlin.monitoring.dashboard.watcher import Dashboard
    except ModuleNotFoundError as error:
        raise ConfigError(missing("--dashboard", "dashboard", error)) from None
    listener = listen("--dashboard", address)
    dashboard = Dashboard(hide_text)
    opened.callback(serve_page(dashboard, listener, limits, notice).close)
    notice(f"the page is at {listener.url}{_openness(listener)}")
    return dashboard


def _metrics(address: str, limits: ServeConfig, opened: ExitStack, notice: Callable[[str], None]) -> Watcher:
    try:
        from streamlin.monitoring.prometheus.server import serve_metrics
        from streamlin.monitoring.prometheus.watcher import Metrics
    except ModuleNotFoundError as error:
        raise ConfigError(missing("--metrics", "metrics", error)) from None
    listener = listen("--metrics", address)
    metrics = Metrics()
    opened.callback(serve_metrics(metrics, listener, limits, notice).close)
    notice(f"metrics are at {listener.url}metrics, health at {listener.url}healthz and {listener.url}readyz")
    return metrics


def _openness(listener: Listener) -> str:
    return "" if listener.is_local else "; everybody who can reach this machine can see it"
