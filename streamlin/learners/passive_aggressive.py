"""Passive-aggressive learning, variant PA-I.

Crammer et al., JMLR 7 (2006) 551-585, figure 1; the multiclass form of section 5.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.features import Examples, View
from streamlin.kernel import kernel
from streamlin.learners.base import Learner, Targets, add_scaled, best_other, linear_scores


@kernel
def learn_batch(indptr, rows, values, rows_before, labels, known, importance, C, weights, bias, scores):  # type: ignore[no-untyped-def]  # fmt: skip
    """Score, then learn, event by event.

    weights float32[n_rows, n_labels], bias float32[n_labels]: changed in place.
    """
    for i in range(labels.size):
        s, begin, end = scores[i], indptr[i], indptr[i + 1]
        linear_scores(begin, end, rows, values, rows_before[i], weights, bias, 1.0, known[i], s)
        y = labels[i]
        rival = best_other(s, y)
        if y < 0 or rival < 0:
            continue
        loss = 1.0 + s[rival]
        if y < known[i]:  # a label that the event brings has score 0
            loss -= s[y]
        if loss > 0.0:
            squared_norm = 1.0  # the bias is a feature that is always on
            for j in range(begin, end):
                squared_norm += np.float64(values[j]) * values[j]
            step = importance[i] * min(C, loss / (2.0 * squared_norm))
            add_scaled(begin, end, rows, values, step, weights, y)
            add_scaled(begin, end, rows, values, -step, weights, rival)
            bias[y] += step
            bias[rival] -= step


class PassiveAggressive(Learner):
    """Multiclass PA-I.

    For an example x (its bias feature included) with label y, and r the best scored other label::

        loss = max(0, 1 - W_y.x + W_r.x)
        tau  = min(C, loss / (2 ||x||^2))
        W_y += w tau x,   W_r -= w tau x

    Parameters
    ----------
    C : the largest step, > 0; smaller for noisier labels.
    features : see `Learner`. Unnormalised values.

    Raises
    ------
    ConfigError : C is not positive.
    """

    name = "passive_aggressive"
    cells = {"weights": np.float32}
    per_label = {"bias": np.float32}

    def __init__(self, C: float = 0.1, features: View | None = None) -> None:
        if not C > 0:  # also refuses NaN
            raise ConfigError(f"passive_aggressive.C must be positive, got {C}")
        self.C = float(C)
        super().__init__(features)

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        learn_batch(*examples, *targets, self.C, self.weights, self.bias, scores)
