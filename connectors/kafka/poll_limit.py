"""How many messages to hand over at once, so that the group does not remove this member."""

import math
import time
from collections.abc import Callable

_SHARE = 0.1
"""Of the longest time between two polls that processing may take."""
_FIRST = 16


class PollLimit:
    """Measures how long messages take until more are asked for, and limits their number accordingly.

    interval : seconds between two polls after which the group removes a member.
    clock : seconds.
    """

    def __init__(self, interval: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget, self._clock = interval * _SHARE, clock
        self._limit = _FIRST
        self._count, self._at = 0, 0.0

    def limit(self, wanted: int) -> int:
        """At most `wanted`, at least 1."""
        if self._count:
            seconds = self._clock() - self._at
            fitting = self._budget / seconds * self._count if seconds > 0 else math.inf
            self._limit = max(1, int(min(4 * self._limit, fitting, 1 << 30)))
            self._count = 0
        return min(wanted, self._limit)

    def handed_over(self, count: int) -> None:
        """Note that so many messages are being processed from now on."""
        self._count, self._at = count, self._clock()
