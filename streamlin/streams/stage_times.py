"""How long each stage of a run has taken."""

from time import perf_counter


class StageTimes:
    """Seconds by stage; nearly always each stage is one thread's, and none waits for another to count.

    `read` has the waiting for a source in it, `checkpoint` what learning waits for.
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(("read", "decode", "featurize", "learn", "write", "checkpoint"), 0.0)

    def add(self, stage: str, begin: float) -> None:
        """Count what has passed since `begin`, a `perf_counter()`."""
        self.seconds[stage] += perf_counter() - begin
