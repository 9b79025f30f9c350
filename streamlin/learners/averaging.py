"""The mean of a linear learner's weights over time, kept lazily.

Collins, EMNLP 2002; Daumé, A Course in Machine Learning, section 4.6. After t events, the mean is W - U / t, where U
sums c d for each update d made when the clock stood at c. With a half-life the mean is weighted: the clock is then a
sum of growing weights, t += 2^(i / half_life) for the i-th event learned.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.learners.forgetting import GROWN, scale_down
from streamlin.learners.linear import add_scaled, linear_scores
from streamlin.learners.tables import Array

TABLES = ("sums", "bias_sums", "clock", "growth")
"""The names of an average's arrays among a learner's tables."""


class Average(NamedTuple):
    """What is kept beside weights [n_rows, n_labels] and bias [n_labels] for their mean, changed in place.

    sums, bias_sums : U, of their shapes. clock [] : t, the total weight of the events learned.
    growth [] : log2 of the next one's. rate : what it grows by with each event.
    """

    sums: NDArray[np.float64]
    bias_sums: NDArray[np.float64]
    clock: NDArray[np.float64]
    growth: NDArray[np.float64]
    rate: float


@kernel
def mean_scores(
    examples: Examples,
    i: int,
    average: Average,
    current: NDArray[np.float64],
    n_labels: int,
    scores: NDArray[np.float64],
) -> None:
    """Set scores[k] to event i's scores by the mean, given those by the current weights; as `linear_scores` does."""
    linear_scores(examples, i, average.sums, average.bias_sums, 1.0, n_labels, scores)
    t = average.clock[()] if average.clock[()] > 0.0 else 1.0
    for k in range(n_labels):
        scores[k] = current[k] - scores[k] / t


@kernel
def add_late(examples: Examples, i: int, step: float, average: Average, k: int | np.int64) -> None:
    """Note in U that W_k was changed by step times event i, its bias feature included."""
    add_scaled(examples, i, step * float(average.clock[()]), average.sums, average.bias_sums, k)


@kernel
def advance(average: Average) -> None:
    """Count an event that was learned, whether it changed W or not."""
    average.clock[()] += np.exp2(average.growth[()])
    average.growth[()] += average.rate
    if average.growth[()] >= GROWN:
        average.growth[()] -= GROWN
        scale_down(average.clock.reshape(1, 1))
        scale_down(average.sums)
        scale_down(average.bias_sums.reshape(1, -1))


def mean_weights(weights: Array, sums: Array, clock: Array) -> NDArray[np.float64]:
    """W - U / t; before the first event W, which is 0."""
    mean: NDArray[np.float64] = weights - sums / (float(clock) or 1.0)
    return mean
