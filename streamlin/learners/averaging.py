"""The mean of a linear learner's weights over time, kept lazily.

Collins, EMNLP 2002; Daumé, A Course in Machine Learning, section 4.6. After t events, the mean is W - U / t, where U
sums c d for each update d made when the clock stood at c. With a half-life the mean is weighted: the clock is then a
sum of growing weights, t += 2^(i / half_life) for the i-th event learned.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.learners.forgetting import GROWN, scale_down, scale_down_row
from streamlin.learners.linear import add_scaled, linear_scores
from streamlin.learners.mixing import Change, add_late_shares, add_means_of, add_sum, blocks_of, of_one_row, sharers_of
from streamlin.learners.tables import Array

TABLES = ("sums", "bias_sums", "clock", "growth")
"""The names of an average's arrays among a learner's tables."""
_OF_BIAS = ("bias", "bias_sums")
NO_HALF_LIFE = "a mean with a half_life weighs each event by its place in the stream, which shards don't know"


class Averaged(Protocol):
    """A learner whose weights are averaged."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    sums: NDArray[np.float64]
    bias_sums: NDArray[np.float64]
    clock: NDArray[np.float64]


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
        average.clock[()] = np.ldexp(average.clock[()], -64)
        scale_down(average.sums)
        scale_down_row(average.bias_sums)


def mix_average(learner: Averaged, changes: Sequence[Change]) -> None:
    """Mix W as the perceptron does, and the sums of W over time so that they add exactly.

    Those are S = t W - U. A shard s that has changed a row by d, its U by u and the clock to t_s has changed S by
    (t_s - t) W + t_s d - u, one that has not changed the row by (t_s - t) W. With the sum of these, the clock t'
    after all, and the mean change m over the shards that have changed the row, U' = t' W' - S' is::

        U' = U + t' m + sum (u - t_s d)
    """
    before = float(learner.clock)
    add_sum(learner.clock, changes, "clock")
    clock = float(learner.clock)
    bias = of_one_row(changes, _OF_BIAS)
    tables = (
        (learner.weights, learner.sums, changes, "weights", "sums"),
        (learner.bias.reshape(1, -1), learner.bias_sums.reshape(1, -1), bias, *_OF_BIAS),
    )
    for weights, sums, given, d, u in tables:
        for block in blocks_of(given, sums.shape[1]):
            sharers = sharers_of(block)
            for one in block.changes:
                own_clock = before + float(one.numbers["clock"])
                late = one.tables[d], one.tables[u], own_clock, clock
                add_late_shares(sums, block.first, one.rows, one.columns, *late, sharers)
            add_means_of(weights, block, d, sharers)


def mean_weights(weights: Array, sums: Array, clock: Array) -> NDArray[np.float64]:
    """W - U / t; before the first event W, which is 0."""
    mean: NDArray[np.float64] = weights - sums / (float(clock) or 1.0)
    return mean
