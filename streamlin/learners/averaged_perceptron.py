"""The averaged perceptron.

Freund, Schapire, Machine Learning 37 (1999) 277-296; Collins, EMNLP 2002. The mean is kept lazily, as in Daumé, A Course
in Machine Learning, section 4.6.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.features import Examples, View
from streamlin.kernel import kernel
from streamlin.learners.base import Learner, Targets, add_scaled, best_other, linear_scores


@kernel
def learn_batch(indptr, rows, values, rows_before, labels, known, importance, weights, bias, sums, bias_sums, clock, current, scores):  # type: ignore[no-untyped-def]  # fmt: skip
    """Score, then learn, event by event.

    weights float32[n_rows, n_labels], bias float32[n_labels]: the current ones. sums, bias_sums float64 likewise: each
    update times the clock before it. clock int64[1]: events learned. current float64[n_labels]: scratch.
    """
    for i in range(labels.size):
        s, begin, end = scores[i], indptr[i], indptr[i + 1]
        linear_scores(begin, end, rows, values, rows_before[i], weights, bias, 1.0, known[i], current)
        linear_scores(begin, end, rows, values, rows_before[i], sums, bias_sums, 1.0, known[i], s)
        t = np.float64(max(clock[0], 1))
        for k in range(known[i]):
            s[k] = current[k] - s[k] / t
        y = labels[i]
        if y < 0 or best_other(current, y) < 0:
            continue
        guess = best_other(current, -1)
        if guess != y:
            step = importance[i]
            late = step * clock[0]
            add_scaled(begin, end, rows, values, step, weights, y)
            add_scaled(begin, end, rows, values, -step, weights, guess)
            add_scaled(begin, end, rows, values, late, sums, y)
            add_scaled(begin, end, rows, values, -late, sums, guess)
            bias[y] += step
            bias[guess] -= step
            bias_sums[y] += late
            bias_sums[guess] -= late
        clock[0] += 1


class AveragedPerceptron(Learner):
    """The perceptron that predicts by the mean of its weights over time.

    Its mistakes are judged by the current weights W. With t events learned so far, and an update d made when the clock
    stood at c, the mean after t events is W - U / t, where U sums c d::

        k = argmax W_k.x != y:   W_y += w x,  W_k -= w x,  U_y += t w x,  U_k -= t w x
        t += 1
    """

    name = "averaged_perceptron"
    cells = {"weights": np.float32, "sums": np.float64}
    per_label = {"bias": np.float32, "bias_sums": np.float64}
    scalars = {"clock": np.int64}

    def __init__(self, features: View | None = None) -> None:
        super().__init__(features)

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        current = np.empty(scores.shape[1])
        learn_batch(
            *examples, *targets, self.weights, self.bias, self.sums, self.bias_sums, self.clock, current, scores
        )

    def effective_weights(self) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = self.weights - self.sums / max(1, int(self.clock[0]))
        return mean
