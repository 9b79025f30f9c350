"""What is counted besides where only a sample of the events gets labels, each with a probability of its own.

Then each event has its weight divided by that probability in all other counts, so that they stand for all events. These
here say how much that rests on: what the labels show as they are, and how uneven the weights are.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.label_sums import LabelSums
from streamlin.evaluation.tally import Tally
from streamlin.evaluation.window import Window
from streamlin.kernel import kernel


class Sample(NamedTuple):
    """The labels of a batch of n events as they are, and the margins of their predictions.

    codes : int32[n], -1: no label. weights : float64[n], of the events. margins : float64[n], set, see `Calibration`.
    """

    codes: NDArray[np.int32]
    weights: NDArray[np.float64]
    margins: NDArray[np.float64]


class WeightedPairs(ArrayState):
    """For M predictors, by how much weight each was right where another one was wrong; and how uneven weights are.

    Counts of events, as in `Pairs`, would compare predictors on those events alone whose labels were asked for.

    only : float64[M, M, 2], sums of w and of w^2 over the events that the first predictor got right and the second one
        wrong. totals : float64[2], those over all events.
    """

    arrays = ("only", "totals")

    def __init__(self, predictors: int) -> None:
        self.only, self.totals = np.zeros((predictors, predictors, 2)), np.zeros(2)

    def update(self, predicted: NDArray[np.int32], labels: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
        """Count predicted int32[M, n] against labels int32[n], -1: no label, each with its weight divided."""
        add_pairs(predicted, labels, weights, self.only, self.totals)

    @property
    def effective(self) -> float:
        """(sum w)^2 / sum w^2: as many events of equal weight tell as much. Kish, Survey Sampling (1965), 11.7."""
        return float(self.totals[0] ** 2 / self.totals[1]) if self.totals[1] > 0 else 0.0

    def windowed(self, window: Window) -> NDArray[np.float64]:
        """`only` over the events of a window."""
        only = np.zeros_like(self.only)
        add_pairs(np.ascontiguousarray(window.predicted.T), window.labels, window.weights, only, np.zeros(2))
        return only


class Sampled:
    """The counts of a sample.

    raw : hits by the events' own weights. raw_sums : the same by label. pairs : see `WeightedPairs`.
    """

    def __init__(self, predictors: int, config: EvaluationConfig) -> None:
        self.raw, self.raw_sums = (
            Tally(predictors, config.window, config.fading, 0),
            LabelSums(predictors, config.fading),
        )
        self.pairs = WeightedPairs(predictors)

    def update(
        self,
        predicted: NDArray[np.int32],
        codes: NDArray[np.int32],
        weights: NDArray[np.float64],
        sample: Sample,
        n_labels: int,
    ) -> None:
        """Count predicted int32[M, n]. codes, weights: those of the other counts."""
        self.raw.update(predicted, sample.codes, sample.weights, 1)
        self.raw_sums.update(predicted, sample.codes, sample.weights, n_labels)
        self.pairs.update(predicted, codes, weights)


@kernel
def add_pairs(
    predicted: NDArray[np.int32],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    only: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Add a batch to the arrays of `WeightedPairs`."""
    for i in range(labels.size):
        y, w = labels[i], weights[i]
        if y < 0:
            continue
        totals[0] += w
        totals[1] += w * w
        for a in range(predicted.shape[0]):
            if predicted[a, i] != y:
                continue
            for b in range(predicted.shape[0]):
                if predicted[b, i] != y:
                    only[a, b, 0] += w
                    only[a, b, 1] += w * w
