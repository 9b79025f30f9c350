"""Multinomial naive Bayes from running counts.

Eisenstein, Linear Models for Statistical NLP (2014), section 2: the estimate of eq. (2.19) ff. with smoothing alpha.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.features import Examples, View
from streamlin.kernel import kernel
from streamlin.learners.base import Learner, Targets


@kernel
def learn_batch(indptr, rows, values, rows_before, labels, known, importance, alpha, counts, logs, totals, events, scores):  # type: ignore[no-untyped-def]  # fmt: skip
    """Score, then learn, event by event.

    counts float64[n_rows, n_labels] N_kj, logs float32 likewise: log(N_kj + alpha) - log(alpha); totals float64[n_labels]
    N_k, events float64[n_labels] n_k: changed in place. The rest as in `Examples`, `Targets`, `score_then_learn`.
    """
    log_alpha = np.log(alpha)
    n_events = 0.0
    for k in range(events.size):
        n_events += events[k]
    for i in range(labels.size):
        s = scores[i]
        n_rows, n_labels = rows_before[i], known[i]
        s[:n_labels] = 0.0
        s[n_labels:] = -np.inf
        mass = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            row = rows[j]
            if 0 <= row < n_rows:
                x = np.float64(values[j])
                mass += x
                for k in range(n_labels):
                    s[k] += x * logs[row, k]
        for k in range(n_labels):
            prior = np.log((events[k] + 1.0) / (n_events + n_labels))
            s[k] += prior + mass * (log_alpha - np.log(totals[k] + alpha * n_rows))
        y = labels[i]
        if y < 0:
            continue
        w = importance[i]
        for j in range(indptr[i], indptr[i + 1]):
            added = w * values[j]
            counts[rows[j], y] += added
            logs[rows[j], y] = np.log(counts[rows[j], y] + alpha) - log_alpha
            totals[y] += added
        events[y] += w
        n_events += w


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
    """

    name = "naive_bayes"
    cells = {"counts": np.float64, "logs": np.float32}
    per_label = {"totals": np.float64, "events": np.float64}

    def __init__(self, alpha: float = 0.3, features: View | None = None) -> None:
        if not 0 < alpha < np.inf:
            raise ConfigError(f"naive_bayes.alpha must be positive, got {alpha}")
        self.alpha = float(alpha)
        super().__init__(features)

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        learn_batch(*examples, *targets, self.alpha, self.counts, self.logs, self.totals, self.events, scores)

    def effective_weights(self) -> NDArray[np.float64]:
        V = len(self.logs)
        weights: NDArray[np.float64] = self.logs + np.log(self.alpha) - np.log(self.totals + self.alpha * V)
        return weights
