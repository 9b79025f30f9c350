"""New words and their alarms in plain Python, as `streamlin.evaluation.novelty` defines them, on sets of words."""

from collections.abc import Sequence
from math import sqrt


class NaiveNovelty:
    """alarms : the number of each event, from 0, at which there was one; before and after it."""

    def __init__(self, threshold: float = 14.0) -> None:
        self.threshold = threshold
        self.seen: set[str] = set()
        self.counts: list[tuple[int, int]] = []
        self.alarms: list[tuple[int, float, float]] = []
        self.number = 0
        self._start()

    def _start(self) -> None:
        self.total = self.mean = self.variance = 0.0
        self.count = 0
        self.quiet = 0.0
        self.since: list[float] = []

    def add(self, words: Sequence[str], counted: bool = True) -> float | None:
        """The share of an event's words that no event before had; None if it has none."""
        self.number += 1
        if not words:
            return None
        new = sum(word not in self.seen for word in words)
        share = new / len(words)
        if counted:
            self.seen |= set(words)
            self.counts.append((len(words), new))
            self._watch(share)
        return share

    def _watch(self, x: float) -> None:
        if self.count >= 200:
            z = min(3.0, (x - self.mean) / sqrt(self.variance + 1e-6))
            self.total = max(0.0, self.total + z - 0.25)
            self.since.append(x)
            if self.total == 0:
                self.since, self.quiet = [], self.mean
            elif self.total > self.threshold:
                self.alarms.append((self.number - 1, self.quiet, sum(self.since) / len(self.since)))
                self._start()
                return
        self.count += 1
        r = max(1 / self.count, 0.005)
        difference = x - self.mean
        self.variance = (1 - r) * (self.variance + r * difference**2)
        self.mean += r * difference

    def share(self, window: int | None = None) -> float | None:
        """Of new words in all events, or in the last ones."""
        counts = self.counts[-window:] if window else self.counts
        words = sum(total for total, _ in counts)
        return sum(new for _, new in counts) / words if words else None
