"""The multiclass perceptron.

Rosenblatt (1958); Eisenstein, Linear Models for Statistical NLP (2014), section 3; Collins, EMNLP 2002.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.features import Examples, View
from streamlin.kernel import kernel
from streamlin.learners.base import Learner, Targets, add_scaled, best_other, linear_scores


@kernel
def learn_batch(indptr, rows, values, rows_before, labels, known, importance, weights, bias, scores):  # type: ignore[no-untyped-def]
    """Score, then learn, event by event.

    weights float32[n_rows, n_labels], bias float32[n_labels]: changed in place.
    """
    for i in range(labels.size):
        s, begin, end = scores[i], indptr[i], indptr[i + 1]
        linear_scores(begin, end, rows, values, rows_before[i], weights, bias, 1.0, known[i], s)
        y = labels[i]
        guess = best_other(s, -1)
        if y < 0 or guess < 0 or guess == y:
            continue
        add_scaled(begin, end, rows, values, importance[i], weights, y)
        add_scaled(begin, end, rows, values, -importance[i], weights, guess)
        bias[y] += importance[i]
        bias[guess] -= importance[i]


class Perceptron(Learner):
    """The multiclass perceptron.

    For an example x (its bias feature included) with label y and prediction k = argmax W_k.x::

        k != y:   W_y += w x,   W_k -= w x
    """

    name = "perceptron"
    cells = {"weights": np.float32}
    per_label = {"bias": np.float32}

    def __init__(self, features: View | None = None) -> None:
        super().__init__(features)

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        learn_batch(*examples, *targets, self.weights, self.bias, scores)
