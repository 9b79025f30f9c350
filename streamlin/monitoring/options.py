"""Who is to watch a run, as the command line says."""

from dataclasses import dataclass

from streamlin.errors import ConfigError


@dataclass(frozen=True)
class MonitoringOptions:
    """dashboard, metrics : `[HOST:]PORT`, or None. hide_text : the page shows no text of events."""

    dashboard: str | None = None
    hide_text: bool = False
    metrics: str | None = None

    def check(self) -> None:
        """Raise ConfigError where one option needs another."""
        if self.hide_text and self.dashboard is None:
            raise ConfigError("--dashboard-hide-text needs --dashboard [HOST:]PORT: there is no page")
