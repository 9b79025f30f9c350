"""Whether a run is ready, and whether it goes on."""

STALLED = 60.0
"""Seconds without progress, while events wait, after which a run is not healthy."""


class Health:
    """Told how far the run is; asked whether it is well. Times are monotonic seconds."""

    def __init__(self) -> None:
        self.ready = False
        self._done = -1
        self._moved = 0.0
        self._waiting = 0

    def seen(self, now: float, done: int, waiting: int | None) -> None:
        """The run has dealt with so many records, and so many wait; None: not known.

        Where nothing waits there is nothing to be done: time without progress counts from when something does.
        """
        self.ready = True
        if done != self._done or not self._waiting:
            self._done, self._moved = done, now
        self._waiting = waiting or 0

    def trouble(self, now: float) -> str | None:
        """What is wrong, in a line; None if nothing is."""
        idle = now - self._moved
        if self.ready and self._waiting and idle >= STALLED:
            return f"no progress for {idle:.0f} s, and {self._waiting:,} events wait"
        return None
