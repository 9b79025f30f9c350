"""The sums of a span where only a sample of the events gets labels."""

from functools import cached_property
from math import erfc, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.sampled import Sampled
from streamlin.evaluation.spans import Span, Sums


class SampledSums(Sums):
    """As `Sums`, with what tells how good predictors are on all events in place of counts of those with a label.

    sampled : their counts.
    """

    def __init__(
        self, span: Span, tally: Any, label_sums: Any, pairs: Any, calibration: Any, n_learners: int, sampled: Sampled
    ) -> None:
        super().__init__(span, tally, label_sums, pairs, calibration, n_learners)
        self._sampled = sampled

    @property
    def leader(self) -> int | None:
        """The learner with the best accuracy over all time."""
        running = self._tally.running()[: self.n_learners]
        return int(running.argmax()) if self.events else None

    @property
    def hits(self) -> tuple[NDArray[np.float64], float]:
        """See `Sums`; as many events of equal weight as tell as much."""
        effective = self._sampled.pairs.effective
        return self._tally.running() * effective, effective

    def p_value(self, first: int, second: int) -> float:
        """That both are equally good, from the weights w of the events that only one of them got right::

        z = (sum w of the first - sum w of the second) / sqrt(sum w^2 of both),   p = P(|N(0, 1)| >= |z|)
        """
        only = self._weighted
        gain, spread = only[first, second, 0] - only[second, first, 0], only[first, second, 1] + only[second, first, 1]
        return erfc(abs(gain) / sqrt(2.0 * spread)) if spread > 0 else 1.0

    @property
    def raw(self) -> Sums:
        """The same of the labels as they are, each event with its own weight."""
        counted = (self._sampled.raw, self._sampled.raw_sums, self._pairs, None, self.n_learners)
        return Sums(self.span, *counted)

    @cached_property
    def _weighted(self) -> NDArray[np.float64]:
        pairs = self._sampled.pairs
        return pairs.windowed(self._tally.window()) if self.span == "window" else pairs.only
