"""ADWIN and KSWIN in plain Python, as their docstrings define them, on lists of events.

For the other detectors river's are the twins.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from math import log, sqrt

from scipy.stats import ks_2samp


@dataclass
class NaiveAdwin:
    """Buckets are merged only when a row is full. buckets[r] : errors of buckets of 2^r events, the oldest first."""

    delta: float = 0.002
    buckets: list[list[int]] = field(default_factory=lambda: [[]])

    def add(self, error: int) -> tuple[float, float] | None:
        """Add an event; if a change is found, returns the accuracy before and after it."""
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


@dataclass
class NaiveKswin:
    """errors : since the last change."""

    alpha: float = 0.005
    window: int = 100
    stat_size: int = 30
    errors: list[int] = field(default_factory=list)

    def add(self, error: int) -> tuple[float, float] | None:
        """Add an event; if a change is found, returns the accuracy before and after it."""
        self.errors.append(error)
        if len(self.errors) < self.window:
            return None
        last = self.errors[-self.window :]
        older, newer = last[: -self.stat_size], last[-self.stat_size :]
        statistic, p = kolmogorov_smirnov((len(older), sum(older)), (len(newer), sum(newer)))
        if p > self.alpha or statistic <= 0.1:
            return None
        self.errors = []
        return 1 - sum(older) / len(older), 1 - sum(newer) / len(newer)


@cache
def kolmogorov_smirnov(one: tuple[int, int], other: tuple[int, int]) -> tuple[float, float]:
    """Statistic and exact p of two samples of 0 and 1, given each one's size and number of ones."""
    samples = [[0] * (n - ones) + [1] * ones for n, ones in (one, other)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful")  # where p is 1, but for rounding
        found = ks_2samp(*samples, method="exact")
    return float(found.statistic), float(found.pvalue)
