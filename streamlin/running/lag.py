"""How far a run is behind its source, and whether the lag grows."""

from collections import deque
from collections.abc import Mapping

from streamlin.events import Position

_INTERVAL = 10.0
"""Seconds between two observations."""
_OBSERVATIONS = 4
_MIN_LAG = 1000
"""Events; a smaller lag is not worth a notice."""


def lags(extent: Mapping[str, tuple[int, int]], positions: Mapping[str, Position]) -> dict[str, int]:
    """Key of a part -> records that wait in it.

    extent : key of a part -> offsets: where reading began, and one past the last record.
    positions : where reading of the parts resumes.
    """
    begun = {part: positions[part]["offset"] if part in positions else begin for part, (begin, _) in extent.items()}
    return {part: max(0, end - max(begin, begun[part])) for part, (begin, end) in extent.items()}


class LagMonitor:
    """Reports a lag that has grown from observation to observation; once, until it has become smaller again."""

    def __init__(self) -> None:
        self._lags: deque[int] = deque(maxlen=_OBSERVATIONS)
        self._next, self._reported = 0.0, False

    def is_due(self, now: float) -> bool:
        """Whether it is time for an observation; `now` is in monotonic seconds."""
        return now >= self._next

    def observe(self, now: float, lag: int) -> str | None:
        """Take a lag into account; returns a line to show, or None."""
        self._next = now + _INTERVAL
        if self._lags and lag < self._lags[-1]:
            self._lags.clear()
            self._reported = False
        self._lags.append(lag)
        growth = lag - self._lags[0]
        seen = list(self._lags)
        if self._reported or len(seen) < _OBSERVATIONS or lag < _MIN_LAG or sorted(set(seen)) != seen:
            return None
        self._reported = True
        seconds = _INTERVAL * (_OBSERVATIONS - 1)
        return f"the lag is growing: {lag:,} events wait, {growth:,} more than {seconds:.0f} s ago"
