"""The command line's options for watching a run."""

from dataclasses import dataclass

from streamlin.errors import ConfigError


@dataclass(frozen=True)
class MonitoringOptions:
    """dashboard, metrics : `[HOST:]PORT`, or None. hide_text : the page shows no text of events."""

    dashboard: str | None = None
    hide_text: bool = False
    metrics: str | None = None

    def check(self) -> None:
        """Raise ConfigError if an option lacks the option that it belongs to."""
        if self.hide_text and self.dashboard is None:
            raise ConfigError("--dashboard-hide-text needs --dashboard [HOST:]PORT: without it no page is served")
