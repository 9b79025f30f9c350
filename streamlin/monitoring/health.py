"""Readiness and health of a run."""

PATHS = ("/healthz", "/readyz")
"""Where servers tell them. These are always answered: programs that start and supervise a run know nothing of it."""
STALLED = 60.0
"""Seconds without progress, while events wait, after which a run is unhealthy."""


class Health:
    """Judges a run by the progress that it records. Times are monotonic seconds."""

    def __init__(self) -> None:
        self.ready = False
        self._done = -1
        self._progressed = 0.0
        self._waiting = 0

    def record(self, now: float, done: int, waiting: int | None) -> None:
        """Record how many records the run has processed, and how many wait; None: unknown.

        While none wait, the run has nothing to do, so time without progress counts from when some do.
        """
        self.ready = True
        if done != self._done or not self._waiting:
            self._done, self._progressed = done, now
        self._waiting = waiting or 0

    def problem(self, now: float) -> str | None:
        """The reason why the run is unhealthy, in one line; None if it is healthy."""
        idle = now - self._progressed
        if self.ready and self._waiting and idle >= STALLED:
            return f"no progress for {idle:.0f} s, and {self._waiting:,} events wait"
        return None
