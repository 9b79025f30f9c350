"""How long labels took to arrive."""

from typing import Any

import numpy as np

from streamlin.evaluation.array_state import ArrayState

_STEPS = 16
"""Bins per power of two; a quantile is off by at most 6 %."""
_BINS = 60 * _STEPS


class Delays(ArrayState):
    """A histogram of whole numbers: exact for small numbers, in bins that widen for larger ones.

    As in HdrHistogram (Gil Tene): a bin for each number below 32, and 16 bins for each power of two from there on.
    """

    arrays = ("counts",)

    def __init__(self) -> None:
        self.counts = np.zeros(_BINS, np.int64)

    def add(self, delay: int) -> None:
        """Count a delay; a negative one counts as 0."""
        delay = max(delay, 0)
        shift = max(delay.bit_length() - 5, 0)
        self.counts[min(shift * _STEPS + (delay >> shift), _BINS - 1)] += 1

    def quantile(self, share: float) -> int | None:
        """The smallest delay that `share` of all delays don't exceed, to within its bin; None without delays."""
        total = int(self.counts.sum())
        if not total:
            return None
        bin_ = int(np.searchsorted(np.cumsum(self.counts), share * total))
        shift = max(bin_ // _STEPS - 1, 0)
        return (bin_ - shift * _STEPS) << shift

    def report(self) -> dict[str, Any] | None:
        """Median and 95 % quantile; None without delays."""
        median = self.quantile(0.5)
        return None if median is None else {"median": median, "p95": self.quantile(0.95)}
