"""Progress of a run in a notebook: a bar and the table of the learners."""

import logging
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamlin.errors import masked
from streamlin.terminal.printing import as_html
from streamlin.terminal.summary import counts_line, standing

if TYPE_CHECKING:
    from streamlin.running.watching import Progress, RunView

_SECONDS = 0.5


class NotebookProgress:
    """One output cell that is redrawn; notices are printed."""

    def __init__(self) -> None:
        display: Any = import_module("IPython.display")  # its types are incomplete
        self._html, self._next = display.HTML, 0.0
        self._handle = display.display(display.HTML(""), display_id=True)

    def update(self, run: "RunView") -> None:
        """See `streamlin.running.watching.Progress`; the end of the run is always drawn."""
        if time.monotonic() < self._next and not run.stop.is_set():
            return
        from rich.console import Group

        self._next = time.monotonic() + _SECONDS
        report = run.report(details=False)
        done = run.done()
        bar = "" if done is None else f'<progress style="width: 100%" value="{done[0]}" max="{done[1]}"></progress>'
        table = as_html(Group(counts_line(report), "", *standing(report, run.config.evaluation.window)))
        self._handle.update(self._html(bar + table))

    def notice(self, line: str) -> None:
        """Print a line."""
        print(masked(line))


class LogProgress:
    """Notices go to the logger `streamlin`; nothing else is shown."""

    def update(self, run: "RunView") -> None:
        """See `streamlin.running.watching.Progress`."""

    def notice(self, line: str) -> None:
        """Log a line."""
        logging.getLogger("streamlin").warning("%s", masked(line))


def default_progress() -> "Progress":
    """In a notebook its progress display, elsewhere the log."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return NotebookProgress() if shell is not None and hasattr(shell, "kernel") else LogProgress()
