"""How far a run is, shown in a notebook: a bar and the table of the learners."""

import logging
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamlin.terminal.printing import as_html
from streamlin.terminal.progress import progress_of
from streamlin.terminal.summary import counts_line, standing

if TYPE_CHECKING:
    from streamlin.running.loop import Progress, Run

_SECONDS = 0.5


class NotebookProgress:
    """One output cell that is drawn anew; lines are printed."""

    def __init__(self) -> None:
        display: Any = import_module("IPython.display")  # has no types that hold
        self._html, self._next = display.HTML, 0.0
        self._handle = display.display(display.HTML(""), display_id=True)

    def update(self, run: "Run") -> None:
        """See `streamlin.running.loop.Progress`; the end of the run is always drawn."""
        if time.monotonic() < self._next and not run.stop.is_set():
            return
        from rich.console import Group

        self._next = time.monotonic() + _SECONDS
        report = run.report(details=False)
        done = progress_of(run)
        bar = "" if done is None else f'<progress style="width: 100%" value="{done[0]}" max="{done[1]}"></progress>'
        table = as_html(Group(counts_line(report), "", *standing(report, run.config.evaluation.window)))
        self._handle.update(self._html(bar + table))

    def notice(self, line: str) -> None:
        """Print a line."""
        print(line)


class Logged:
    """Lines go to the logger `streamlin`, and nothing else is shown."""

    def update(self, run: "Run") -> None:
        """See `streamlin.running.loop.Progress`."""

    def notice(self, line: str) -> None:
        """Log a line."""
        logging.getLogger("streamlin").warning(line)


def progress_here() -> "Progress":
    """The one that fits where the program runs."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return NotebookProgress() if shell is not None and hasattr(shell, "kernel") else Logged()
