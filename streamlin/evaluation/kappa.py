"""Kappa: how much better than chance, 1 for what is always right, 0 for what is no better than chance.

Cohen, Educational and Psychological Measurement 20 (1960) 37-46, for the form and for the first kind of chance; Bifet,
de Francisci Morales, Read, Holmes, Pfahringer, KDD (2015) 59-68, for the others::

    kappa = (p0 - pc) / (1 - pc),   p0: accuracy;   0 where pc = 1

    pc for   kappa            sum_k P(true = k) P(predicted = k): whoever says each label as often, but at random
             kappa_m          the accuracy of the majority label
             kappa_temporal   the accuracy of no change
"""

import numpy as np
from numpy.typing import NDArray

_CERTAIN = 1e-9
"""Chance that is right but for less than this is right: the rest is rounding."""


def kappa(accuracy: NDArray[np.float64], chance: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    """Of accuracies float64[M] against chance's, one for all or float64[M]; NaN where one of them is."""
    chance = np.broadcast_to(chance, accuracy.shape)
    better, room = accuracy - chance, 1.0 - chance
    return np.where(room < _CERTAIN, 0.0, better / np.where(room < _CERTAIN, 1.0, room))


def chance_of(labels: NDArray[np.float64], predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[M]: Cohen's pc from sums by label, float64[K], and by what is predicted, float64[M, K]; or NaN."""
    total = labels.sum()
    if not total > 0:
        return np.full(predicted.shape[0], np.nan)
    chances: NDArray[np.float64] = ((predicted / total) * (labels / total)).sum(
        axis=1
    )  # no BLAS: its order of adding varies
    return chances
