"""Hands snapshots of a run to the page: taken by the thread that learns, at little cost to it."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from streamlin.errors import redacted
from streamlin.model import Learned
from streamlin.monitoring.dashboard.contents import contents
from streamlin.monitoring.dashboard.history import LAST, History
from streamlin.monitoring.dashboard.mistakes import Mistakes
from streamlin.monitoring.dashboard.texts import LONG, shortened
from streamlin.running.watching import RunView, Watcher
from streamlin.terminal.printing import without_quotes

_PERIOD, _LONGEST, _SHARE = 1.0, 5.0, 0.015
"""Seconds between two snapshots, at least and at most, and the share of its time that the thread spends on them: with
many labels a report is long, and snapshots are rarer."""
_INTEREST = 5.0
"""Seconds for which a request for snapshots holds."""
_NOTICES = 20


class Dashboard(Watcher):
    """Takes a snapshot of the run about once a second while a page is open.

    The server's thread calls `request`, and `latest()` for the contents of the page; everything else runs on the thread
    that learns. A snapshot never changes.

    Parameters
    ----------
    hide_text : keep no text of events.

    Attributes
    ----------
    latest : makes the contents of the last snapshot; None before the first.
    """

    def __init__(self, hide_text: bool = False) -> None:
        self.latest: Callable[[], dict[str, Any]] | None = None
        self._requested = -_INTEREST
        self._next = 0.0
        self._history = History()
        self._begun = False
        self._hide_text, self._mistakes = hide_text, Mistakes(hide_text)
        self._notices: deque[str] = deque(maxlen=_NOTICES)
        self._lock = threading.Lock()

    def request(self) -> None:
        """Ask for snapshots during the next seconds; from any thread."""
        self._requested = time.monotonic()

    def update(self, run: RunView) -> None:
        """Add to the history about once a second; take a snapshot if one is due and requested."""
        if not self._begun:
            self._begun = True
            self._history.begin(run.seconds, run.model.prequential.events)
        if self._history.is_due(run.seconds):
            self._add_point(run)
        now = time.monotonic()
        if now >= self._next and now - self._requested < _INTEREST:
            begin = time.thread_time()
            self.latest = self._snapshot(run, run.report(), False)
            cost = time.thread_time() - begin
            self._next = now + min(max(_PERIOD, cost / _SHARE), _LONGEST)

    def learned(self, learned: Learned) -> None:
        """Keep the mistakes."""
        self._mistakes.learned(learned)

    def notice(self, line: str) -> None:
        """Keep a notice; from any thread."""
        with self._lock:
            self._notices.append(shortened(without_quotes(line) if self._hide_text else line, LONG))

    def finish(self, run: RunView, report: dict[str, Any]) -> None:
        """Take the last snapshot; `report` is the run's."""
        if self._begun and self._history.is_due(run.seconds, LAST):
            self._add_point(run)
        self.latest = self._snapshot(run, report, True)

    def _add_point(self, run: RunView) -> None:
        lag = run.lag()
        waiting = None if lag is None else sum(lag.values())
        self._history.add(run.seconds, run.model.prequential.events, waiting)

    def _snapshot(self, run: RunView, report: dict[str, Any], done: bool) -> Callable[[], dict[str, Any]]:
        points = self._history.points
        with self._lock:
            notices = list(self._notices)
        more = {
            "done": done,
            "source": shortened(redacted(run.config.source.needed_url()), LONG),
            "history": {
                "second": [point.second for point in points],
                "events_per_second": [point.events_per_second for point in points],
                "lag": [point.lag for point in points],
            },
            "mistakes": self._mistakes.listed(run.model.labels.names),
            "notices": notices[::-1],
        }
        return lambda: contents(report, run.config.evaluation.window, self._hide_text) | more
