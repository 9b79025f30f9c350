"""ADWIN in plain Python, as its docstring defines it, on lists of events: no bucket is put together before its time.

For the other detectors river's are the twins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, sqrt


@dataclass
class NaiveAdwin:
    """buckets[r] : errors of buckets of 2^r events, the oldest first."""

    delta: float = 0.002
    buckets: list[list[int]] = field(default_factory=lambda: [[]])

    def add(self, error: int) -> tuple[float, float] | None:
        """An event; where a change is found, accuracy before and behind it."""
        self.buckets[0].append(error)
        for row, own in enumerate(self.buckets):
            if len(own) == 6:
                if row + 1 == len(self.buckets):
                    self.buckets.append([])
                self.buckets[row + 1].append(own.pop(0) + own.pop(0))
        n, errors = self._all()
        if n % 32:
            return None
        while self._is_cut():
            self.buckets[-1].pop(0)
            if not self.buckets[-1]:
                self.buckets.pop()
        left, errors_left = self._all()
        if left == n:
            return None
        self.buckets = [[]]
        return 1 - (errors - errors_left) / (n - left), 1 - errors_left / left

    def _parts(self) -> Sequence[tuple[int, int]]:
        """Length and errors of each bucket, the oldest first."""
        return [(2**row, u) for row in reversed(range(len(self.buckets))) for u in self.buckets[row]]

    def _all(self) -> tuple[int, int]:
        return sum(n for n, _ in self._parts()), sum(u for _, u in self._parts())

    def _is_cut(self) -> bool:
        (n, errors), n0, u0 = self._all(), 0, 0
        p, d = errors / n, log(2 * log(n) / self.delta)
        for size, u in self._parts():
            n0, u0 = n0 + size, u0 + u
            if n0 >= 5 and n - n0 >= 5:
                m = 1 / (n0 - 4) + 1 / (n - n0 - 4)
                if abs(u0 / n0 - (errors - u0) / (n - n0)) > sqrt(2 * m * p * (1 - p) * d) + 2 / 3 * m * d:
                    return True
        return False
