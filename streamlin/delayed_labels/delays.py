"""How long labels took to come."""

from typing import Any

import numpy as np

from streamlin.evaluation.array_state import ArrayState

_STEPS = 16
"""Bins for each power of two, so that a quantile is off by 6 % at most."""
_BINS = 60 * _STEPS


class Delays(ArrayState):
    """Counts of whole numbers, small ones singly, larger ones in bins that grow with them.

    As in HdrHistogram (Gil Tene): a bin for each number below 32, from there on 16 for each power of two.
    """

    arrays = ("counts",)

    def __init__(self) -> None:
        self.counts = np.zeros(_BINS, np.int64)

    def add(self, delay: int) -> None:
        """Count one; negative ones are 0."""
        delay = max(delay, 0)
        shift = max(delay.bit_length() - 5, 0)
        self.counts[min(shift * _STEPS + (delay >> shift), _BINS - 1)] += 1

    def quantile(self, share: float) -> int | None:
        """The least number that at least `share` of them don't exceed, to within its bin; None where there is none."""
        total = int(self.counts.sum())
        if not total:
            return None
        bin_ = int(np.searchsorted(np.cumsum(self.counts), share * total))
        shift = max(bin_ // _STEPS - 1, 0)
        return (bin_ - shift * _STEPS) << shift

    def report(self) -> dict[str, Any] | None:
        """Median and 95 % quantile; None where there is nothing."""
        median = self.quantile(0.5)
        return None if median is None else {"median": median, "p95": self.quantile(0.95)}
