"""Progress of a run on standard error: a live table on a terminal, a line every few seconds elsewhere."""

import sys
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from streamlin.errors import masked, spelled
from streamlin.terminal.cells import percent
from streamlin.terminal.printing import Masked, logs_json, print_notice
from streamlin.terminal.summary import counts_line, standing

if TYPE_CHECKING:
    from streamlin.running.watching import RunView

_LIVE_SECONDS = 0.25
_PLAIN_SECONDS = 5.0


class PlainProgress:
    """A line every few seconds."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _PLAIN_SECONDS
        self._lock = threading.Lock()

    def __enter__(self) -> "PlainProgress":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, run: "RunView") -> None:
        """Show a line if the last one is a few seconds old."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PLAIN_SECONDS
        report = run.report(details=False)
        done = run.done()
        share = f"{100 * done[0] / done[1]:.0f} % · " if done else ""
        with self._lock:
            print_notice(f"{share}{counts_line(report)} · {_standing(report)}", **log_fields(report))

    def notice(self, line: str) -> None:
        """Show one line."""
        with self._lock:
            print_notice(line)


class LiveProgress:
    """A table that is redrawn a few times a second, and a bar with the time left if the size of the source is known."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

        self._live = Live(console=Console(stderr=True, highlight=False), auto_refresh=False, transient=True)
        self._bar = Progress(BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), auto_refresh=False)
        self._task = self._bar.add_task("", total=None)
        self._next = 0.0

    def __enter__(self) -> "LiveProgress":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(self, run: "RunView") -> None:
        """Redraw, if the last drawing is old enough."""
        if time.monotonic() < self._next:
            return
        from rich.console import Group

        self._next = time.monotonic() + _LIVE_SECONDS
        report = run.report(details=False)
        parts: list[Any] = [counts_line(report), "", *standing(report, run.config.evaluation.window)]
        done = run.done()
        if done is not None:
            self._bar.update(self._task, completed=done[0], total=done[1])
            parts += ["", self._bar.get_renderable()]
        self._live.update(Masked(Group(*parts)), refresh=True)

    def notice(self, line: str) -> None:
        """Show one line above the table."""
        self._live.console.print(f"streamlin: {masked(spelled(line))}", markup=False, soft_wrap=True)


def _standing(report: Mapping[str, Any]) -> str:
    """The accuracy of the best learner; the number of clusters."""
    if "topics" in report:
        return ", ".join(f"{name} {row['clusters']} clusters" for name, row in report["learners"].items())
    name, best = max(report["learners"].items(), key=lambda item: item[1]["accuracy"] or 0.0)
    return f"best {name} {percent(best['accuracy'])}, last {percent(best['window_accuracy'])}"


def log_fields(report: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a JSON log line about a run: counts, rate, accuracies."""
    counts = ("events", "labelled", "dead_letters", "events_per_second", "lag")
    accuracies = {name: row.get("window_accuracy") for name, row in report["learners"].items()}
    return {key: report[key] for key in counts if key in report} | {"window_accuracy": accuracies}


def terminal_progress() -> PlainProgress | LiveProgress:
    """A live table if standard error is a terminal, otherwise plain lines."""
    on_terminal = sys.stderr is not None and sys.stderr.isatty() and not logs_json()
    return LiveProgress() if on_terminal else PlainProgress()
