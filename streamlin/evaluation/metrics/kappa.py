"""Kappa: how much better than chance; 1 for a predictor that is always right, 0 for one no better than chance.

Cohen, Educational and Psychological Measurement 20 (1960) 37-46, for the form and for the first kind of chance; Bifet,
de Francisci Morales, Read, Holmes, Pfahringer, KDD (2015) 59-68, for the others::

    kappa = (p0 - pc) / (1 - pc),   p0: accuracy;   0 where pc = 1

    pc for   kappa            sum_k P(true = k) P(predicted = k): each label predicted as often, but at random
             kappa_m          the accuracy of the majority label
             kappa_temporal   the accuracy of no change
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.spans import Sums

_CERTAIN = 1e-9
"""A chance accuracy within this of 1 counts as 1: the rest is rounding."""


class Kappa(Metric):
    """Cohen's."""

    name = "kappa"
    of_sums = True
    title = "kappa"
    meaning = "Cohen's kappa: 1 is perfect, 0 no better than chance."
    terminal = {"running": 50}
    page = {"chosen": 50}
    prometheus = {"learners": "learner_kappa"}

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.by_label
        return kappa(sums.accuracy, chance_of(totals.labels, totals.predicted))


class KappaM(Metric):
    """Against the majority label."""

    name = "kappa_m"
    of_sums = True
    title = "kappa m"
    meaning = "Kappa against the majority label: 1 is perfect, 0 no better than that baseline."

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        return kappa(sums.accuracy, sums.majority_accuracy)


class KappaTemporal(Metric):
    """Against the label of the event before."""

    name = "kappa_temporal"
    of_sums = True
    title = "kappa temporal"
    meaning = "Kappa against no change: 1 is perfect, 0 no better than that baseline."

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        return kappa(sums.accuracy, sums.no_change_accuracy)


def kappa(accuracy: NDArray[np.float64], chance: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    """Of accuracies float64[M] against chance's, one for all or float64[M]; NaN where one of them is NaN."""
    chance = np.broadcast_to(chance, accuracy.shape)
    better, room = accuracy - chance, 1.0 - chance
    return np.where(room < _CERTAIN, 0.0, better / np.where(room < _CERTAIN, 1.0, room))


def chance_of(labels: NDArray[np.float64], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cohen's pc, float64[M], from weights by true label, float64[K], and by predicted label, float64[M, K].

    NaN where nothing was counted.
    """
    total = labels.sum()
    if not total > 0:
        return np.full(predicted.shape[0], np.nan)
    products = (predicted / total) * (labels / total)
    chances: NDArray[np.float64] = products.sum(axis=1)  # not by BLAS, whose order of addition varies
    return chances
