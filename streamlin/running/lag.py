"""How far a run is behind its source, and whether that gets worse."""

from collections import deque
from collections.abc import Mapping

from streamlin.events import Position

_EVERY = 10.0
"""Seconds between two looks."""
_LOOKS = 4
_LEAST = 1000
"""A lag of fewer events is none to speak of."""


def lags(extent: Mapping[str, tuple[int, int]], positions: Mapping[str, Position]) -> dict[str, int]:
    """Key of a part -> records that wait there.

    extent : key of a part -> offsets, where reading began and behind the last record that there is.
    positions : where the parts go on.
    """
    begun = {part: positions[part]["offset"] if part in positions else begin for part, (begin, _) in extent.items()}
    return {part: max(0, end - max(begin, begun[part])) for part, (begin, end) in extent.items()}


class LagWatch:
    """Tells when the lag has grown from look to look; once, until it has become smaller again."""

    def __init__(self) -> None:
        self._looks: deque[int] = deque(maxlen=_LOOKS)
        self._next, self._told = 0.0, False

    def due(self, now: float) -> bool:
        """Whether it is time for a look; `now` are monotonic seconds."""
        return now >= self._next

    def look(self, now: float, lag: int) -> str | None:
        """A line for people, if there is something to say."""
        self._next = now + _EVERY
        if self._looks and lag < self._looks[-1]:
            self._looks.clear()
            self._told = False
        self._looks.append(lag)
        grown = lag - self._looks[0]
        steps = list(self._looks)
        if self._told or len(steps) < _LOOKS or lag < _LEAST or sorted(set(steps)) != steps:
            return None
        self._told = True
        seconds = _EVERY * (_LOOKS - 1)
        return f"the lag grows: {lag:,} events wait, {grown:,} more than {seconds:.0f} s ago"
