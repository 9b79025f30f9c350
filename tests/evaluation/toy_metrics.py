"""Two metrics that streamlin does not have: one computed from sums, one that counts for itself."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation import metrics
from streamlin.evaluation.metric import Metric
from streamlin.evaluation.spans import Sums


class BalancedAccuracy(Metric):
    """The mean recall of the labels that were true."""

    name = "balanced_accuracy"
    title = "balanced"
    meaning = "Mean recall of the labels that were true."
    format = "percent"
    terminal = {"window": 60}
    page = {"chosen": 65}
    prometheus = {"learners": "learner_balanced_accuracy_ratio", "baselines": "baseline_balanced_accuracy_ratio"}

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        labels, _, hits = sums.by_label
        recalls = np.divide(hits, labels, out=np.zeros_like(hits), where=labels > 0)
        return recalls.sum(axis=1) / max(1, np.count_nonzero(labels))


class LongestStreak(Metric):
    """The most hits in a row."""

    name = "longest_streak"
    title = "streak"
    meaning = "Most labelled events in a row that were predicted right."
    format = "count"
    arrays = ("current", "longest")
    spans = ("running",)
    terminal = {"running": 5}
    page = {"running": 15}
    prometheus = {"learners": "learner_longest_streak"}

    def __init__(self, predictors: int, config: EvaluationConfig) -> None:
        self.current, self.longest = np.zeros(predictors, np.int64), np.zeros(predictors, np.int64)

    def update(
        self, predicted: NDArray[np.int32], labels: NDArray[np.int32], weights: NDArray[np.float64], n_labels: int
    ) -> None:
        for hits in (predicted == labels)[:, labels >= 0].T:
            self.current = np.where(hits, self.current + 1, 0)
            self.longest = np.maximum(self.longest, self.current)

    def compute(self, sums: Sums) -> NDArray[Any]:
        return self.longest


WITH_TOYS = (*metrics.METRICS, (BalancedAccuracy,), (LongestStreak,))
"""The registry, with an entry for each."""
