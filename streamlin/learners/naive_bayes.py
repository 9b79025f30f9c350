"""Multinomial naive Bayes from running counts.

Eisenstein, Linear Models for Statistical NLP (2014), section 2: the estimate of eq. (2.19) ff. with smoothing alpha.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError, RecordError
from streamlin.features import Buckets, View
from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.learners.base import Learner, Targets


@kernel
def learn_batch(
    examples: Examples,
    targets: Targets,
    alpha: float,
    counts: NDArray[np.float64],
    logs: NDArray[np.float32],
    totals: NDArray[np.float64],
    events: NDArray[np.float64],
    n: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event; what is changed in place:

    counts [n_rows, n_labels] : N_kj. logs : likewise, log(N_kj + alpha) - log(alpha).
    totals [n_labels] : N_k. events [n_labels] : n_k. n [] : sum_k n_k, kept so that no batch sums it in its own order.
    """
    log_alpha = np.log(alpha)
    for i in range(targets.codes.size):
        s, known, n_rows = scores[i], targets.known[i], examples.rows_before[i]
        begin, end = examples.indptr[i], examples.indptr[i + 1]
        s[:known] = 0.0
        s[known:] = -np.inf
        mass = 0.0
        for j in range(begin, end):
            row = examples.rows[j]
            if 0 <= row < n_rows:
                x = np.float64(examples.values[j])
                mass += x
                for k in range(known):
                    s[k] += x * logs[row, k]
        V = max(n_rows, 1)  # log 0 would make a NaN of the 0 features of an event before any row
        for k in range(known):
            prior = np.log((events[k] + 1.0) / (n[()] + known))
            s[k] += prior + mass * (log_alpha - np.log(totals[k] + alpha * V))
        y = targets.codes[i]
        if y < 0:
            continue
        w = targets.weights[i]
        for j in range(begin, end):
            row, added = examples.rows[j], w * examples.values[j]
            counts[row, y] += added
            logs[row, y] = np.log(counts[row, y] + alpha) - log_alpha
            totals[y] += added
        events[y] += w
        n[()] += w


class NaiveBayes(Learner):
    """Multinomial naive Bayes.

    For counts N_kj of feature j with label k, N_k = sum_j N_kj, n_k events of n, K labels and V features seen::

        score_k = log (n_k + 1) / (n + K) + sum_j x_j log (N_kj + alpha) / (N_k + alpha V)
        N_yj += w x_j,   n_y += w

    Parameters
    ----------
    alpha : smoothing, > 0: what every count starts from.
    features : see `Learner`. Raw or binary values; never length-normalised ones.

    Raises
    ------
    ConfigError : alpha is not positive and finite.
    RecordError : used alone, it is given a negative value.
    """

    name = "naive_bayes"
    tables = ("counts", "logs", "totals", "events", "n")

    def __init__(self, alpha: float = 0.3, features: View | None = None) -> None:
        if not 0 < alpha < np.inf:
            raise ConfigError(f"naive_bayes.alpha must be positive, got {alpha}")
        super().__init__(features)
        self.alpha = float(alpha)
        self.counts, self.logs = np.zeros((0, 0)), np.zeros((0, 0), np.float32)
        self.totals, self.events = np.zeros(0), np.zeros(0)
        self.n = np.zeros(())

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        learn_batch(examples, targets, self.alpha, self.counts, self.logs, self.totals, self.events, self.n, scores)

    def effective_weights(self, n_rows: int, n_labels: int) -> NDArray[np.float64]:
        used, V = self.state(n_rows, n_labels), max(n_rows, 1)
        weights: NDArray[np.float64] = used["logs"] + np.log(self.alpha) - np.log(used["totals"] + self.alpha * V)
        return weights

    def _buckets(self, xs: Sequence[Any]) -> Buckets:
        features = super()._buckets(xs)
        if features.values.min(initial=0) < 0:
            raise RecordError(f"naive_bayes counts features; a value is {features.values.min()}, it must be 0 or more")
        return features
