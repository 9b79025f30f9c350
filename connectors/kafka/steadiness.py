"""How many messages to hand over at once so that a group's patience is never at stake."""

import math
import time
from collections.abc import Callable

_SHARE = 0.1
"""Of the longest time between two polls that a batch may take."""
_FIRST = 16


class Steadiness:
    """Measures how long messages take until more are asked for, and limits their number accordingly.

    interval : seconds between two polls after which the group throws a member out.
    clock : seconds.
    """

    def __init__(self, interval: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget, self._clock = interval * _SHARE, clock
        self._limit = _FIRST
        self._gave, self._at = 0, 0.0

    def limit(self, wanted: int) -> int:
        """At most `wanted`, at least 1."""
        if self._gave:
            seconds = self._clock() - self._at
            fitting = self._budget / seconds * self._gave if seconds > 0 else math.inf
            self._limit = max(1, int(min(4 * self._limit, fitting, 1 << 30)))
            self._gave = 0
        return min(wanted, self._limit)

    def gave(self, count: int) -> None:
        """So many were handed over just now."""
        self._gave, self._at = count, self._clock()
