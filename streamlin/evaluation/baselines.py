"""The baselines that a learner has to beat: the majority label, and the label of the event before."""

import numpy as np
from numpy.typing import NDArray

from streamlin.config import BASELINES
from streamlin.evaluation.array_state import ArrayState
from streamlin.kernel.late import late_kernel
from streamlin.storage.arrays import Expected, expected, like

MAJORITY, NO_CHANGE = range(2)
"""Their rows, in the order of their names."""


class Baselines(ArrayState):
    """Two predictors that read no text; each predicts before it sees the label.

    majority : the label of the largest weight so far; ties go to the label seen first.
    no_change : the last label; Žliobaitė et al., Machine Learning 98 (2015) 455-482.
    """

    names = BASELINES
    arrays = ("label_weights", "last")

    def __init__(self) -> None:
        self.label_weights = np.zeros(0)
        self.last = np.full(1, -1, np.int64)

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        last = like(self.last, lowest=-1, highest=n_labels - 1)
        return {"label_weights": expected(np.float64, n_labels), "last": last}

    def predict(
        self, labels: NDArray[np.int32], weights: NDArray[np.float64], n_labels: int, predicted: NDArray[np.int32]
    ) -> None:
        """Set predicted int32[2, n]; labels int32[n], -1 where nothing is to be counted."""
        if self.label_weights.size < n_labels:
            self.label_weights = np.concatenate([self.label_weights, np.zeros(n_labels - self.label_weights.size)])
        predict_batch(labels, weights, self.label_weights, self.last, predicted)


@late_kernel
def predict_batch(
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    label_weights: NDArray[np.float64],
    last: NDArray[np.int64],
    predicted: NDArray[np.int32],
) -> None:
    """Predict, then count, event by event. label_weights float64[n_labels], last int64[1]: changed in place."""
    majority = -1
    for k in range(label_weights.size):
        if label_weights[k] > 0.0 and (majority < 0 or label_weights[k] > label_weights[majority]):
            majority = k
    for i in range(labels.size):
        predicted[0, i] = majority
        predicted[1, i] = last[0]
        y = labels[i]
        if y < 0:
            continue
        label_weights[y] += weights[i]
        last[0] = y
        ahead = majority < 0 or label_weights[y] > label_weights[majority]
        if ahead or (label_weights[y] == label_weights[majority] and y < majority):
            majority = y
