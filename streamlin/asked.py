"""Who is to watch a run, as the command line says."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """dashboard, metrics : `[HOST:]PORT`, or None. hide_text : the page shows no text of events."""

    dashboard: str | None = None
    hide_text: bool = False
    metrics: str | None = None
