"""Voting: each feature votes for the labels it occurred with, in proportion, and the votes are summed."""

import numpy as np
from numpy.typing import NDArray

from streamlin import ConfigError, Learner, View
from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.learners import Targets


@kernel
def learn_batch(examples, targets, alpha, counts, scores):  # type: ignore[no-untyped-def]
    """Score, then learn, event by event; counts float64[n_rows, n_labels] is changed in place."""
    for i in range(targets.codes.size):
        known, n_rows, y = targets.known[i], examples.rows_before[i], targets.codes[i]
        begin, end = examples.indptr[i], examples.indptr[i + 1]
        scores[i, :known] = 0.0
        scores[i, known:] = -np.inf
        for j in range(begin, end):
            row = examples.rows[j]
            if 0 <= row < n_rows:
                votes = counts[row, :known] + alpha
                scores[i, :known] += examples.values[j] * (votes / votes.sum())
        if y >= 0:
            for j in range(begin, end):
                counts[examples.rows[j], y] += targets.weights[i] * examples.values[j]


class Votes(Learner):
    """For counts N_jk of feature j with label k, K labels::

        score_k = sum_j x_j (N_jk + alpha) / (sum_k N_jk + alpha K)

    Parameters
    ----------
    alpha : > 0; smoothing: with a larger alpha, rare features vote less decidedly.
    features : see `Learner`.

    Raises
    ------
    ConfigError : alpha is not positive.
    """

    name = "votes"
    tables = ("counts",)

    def __init__(self, alpha: float = 1.0, features: View | None = None) -> None:
        if not alpha > 0:
            raise ConfigError(f"votes.alpha must be positive, got {alpha}")
        super().__init__(features)
        self.alpha, self.counts = float(alpha), np.zeros((0, 0))

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        """See `Learner`."""
        learn_batch(examples, targets, self.alpha, self.counts, scores)
