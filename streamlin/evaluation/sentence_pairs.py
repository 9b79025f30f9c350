"""Pairs of taggers: in how many sentences the one had more tokens right than the other."""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.pairs import Pairs
from streamlin.evaluation.sentence_tally import SentenceTally
from streamlin.evaluation.window import Window
from streamlin.kernel import kernel


class SentencePairs(Pairs):
    """As `Pairs`, but of sentences: `only` counts those in which the first predictor had more tokens right.

    McNemar's test of these counts is the sign test: tokens of one sentence are not independent.
    """

    def __init__(self, predictors: int, tally: SentenceTally) -> None:
        super().__init__(predictors)
        self._tally = tally

    def count(
        self,
        predicted: NDArray[np.int32],
        codes: NDArray[np.int32],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> None:
        """Count predicted int32[M, m] against codes int32[m], -1: unknown; bounds int64[n + 1], weights float64[n]."""
        count_better(predicted, codes, bounds, weights, self.only)

    def windowed(self, window: Window) -> NDArray[np.int64]:
        """The same over the sentences of the tally's window."""
        hits = self._tally.window_hits()
        only = np.zeros_like(self.only)
        for first in range(only.shape[0]):
            only[first] = (hits[:, first, None] > hits).sum(axis=0)
        return only


@kernel
def count_better(
    predicted: NDArray[np.int32],
    codes: NDArray[np.int32],
    bounds: NDArray[np.int64],
    weights: NDArray[np.float64],
    only: NDArray[np.int64],
) -> None:
    """Add a batch to only int64[M, M]."""
    hits = np.empty(predicted.shape[0], np.int64)
    for i in range(weights.size):
        if weights[i] <= 0.0:
            continue
        for m in range(hits.size):
            hits[m] = 0
            for t in range(bounds[i], bounds[i + 1]):
                hits[m] += codes[t] >= 0 and predicted[m, t] == codes[t]
        for a in range(hits.size):
            for b in range(hits.size):
                only[a, b] += hits[a] > hits[b]
