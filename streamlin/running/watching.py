"""Watching a run: progress displays and watchers, and the view of the run that they get."""

import threading
from typing import Any, Protocol

from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.model import Learned, Model
from streamlin.streams.stage_times import StageTimes


class RunView(Protocol):
    """The view of a run that progress displays and watchers get; see `streamlin.running.loop.Run`.

    stages : the time that each stage has taken. stop : set when the run is to end.
    seconds : since the run began. batches : learned in this run. batch_size : the number of events in the last of them.
    """

    config: RunConfig
    model: Model
    state: RunState
    stages: StageTimes
    stop: threading.Event
    seconds: float
    batches: int
    batch_size: int

    def report(self, details: bool = True) -> dict[str, Any]:
        """The metrics so far, JSON-able."""

    def done(self) -> tuple[int, int] | None:
        """How many bytes of the source are learned, and of how many; None if the source can't tell."""

    def lag(self) -> dict[str, int] | None:
        """Events that wait in each part of the source; None if the source can't tell."""


class Progress(Protocol):
    """Shows how far a run is."""

    def update(self, run: RunView) -> None:
        """Called at the start, after every batch, and whenever the source has nothing yet."""

    def notice(self, line: str) -> None:
        """Show one line; called from any thread."""


class Watcher:
    """Watches a run besides its progress display.

    Called on the thread that learns, except `notice`. A method that a subclass does not define does nothing.
    """

    def update(self, run: RunView) -> None:
        """As that of `Progress`."""

    def learned(self, learned: Learned) -> None:
        """Called with what was learned of every batch."""

    def notice(self, line: str) -> None:
        """As that of `Progress`."""

    def finish(self, run: RunView, report: dict[str, Any]) -> None:
        """Called with the report when the run has ended, however it ended."""
