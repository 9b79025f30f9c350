"""How long each stage of a run takes."""

from threading import Lock
from time import perf_counter


class StageTimes:
    """Seconds by stage, of all threads that run it.

    `read` includes the waiting for the source; `checkpoint` counts only the time that learning waits for.
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(("read", "decode", "featurize", "learn", "write", "checkpoint"), 0.0)
        self._lock = Lock()

    def add(self, stage: str, begin: float) -> None:
        """Count the time since `begin`, a value of `perf_counter()`."""
        with self._lock:
            self.seconds[stage] += perf_counter() - begin
