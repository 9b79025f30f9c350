"""A race of two learners: the second answers for the first only while it has been clearly the better one.

Both score every event. After each labelled event, with z the scores of a learner divided by their standard deviation
over the known labels, so that neither a scale nor the length of a text decides:

    loss = log sum_k exp z_k - z_y
    d    = loss of the first - loss of the second
    S   += w d,   Q += (w d)^2

The second answers while S > sqrt Q. If it were no better than the first, S would be about as far from 0 as sqrt Q, on
either side; so the first is kept unless the evidence is larger than its noise. The scores must have been made before
the event was learned. Any two learners can be raced, and a winner can be raced again, with sums of their own.
"""

import math

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel


@kernel
def second_answers(lead: NDArray[np.float64], squares: NDArray[np.float64]) -> bool:
    """Whether the second learner answers. lead, squares [] : S and Q, which start at 0."""
    return float(lead[()]) > math.sqrt(squares[()])


@kernel
def count_race(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    known: int,
    y: int,
    weight: float,
    lead: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """Count an event of label y, given both learners' scores of the known labels; S and Q are changed in place.

    A label that was no candidate, or the only one, says nothing.
    """
    if not 0 <= y < known or known < 2:
        return
    gain = weight * (loss_of(first, known, y) - loss_of(second, known, y))
    lead[()] += gain
    squares[()] += gain * gain


@kernel
def loss_of(scores: NDArray[np.float64], n: int, y: int) -> float:
    """The log loss of n scores divided by their standard deviation; scores that overflowed or are equal say nothing."""
    mean, top, squared = 0.0, scores[0], 0.0
    for k in range(n):
        mean += scores[k] / n
        top = max(top, scores[k])
    for k in range(n):
        squared += (scores[k] - mean) * (scores[k] - mean) / n
    if not (0.0 < squared < math.inf):
        return math.log(n)
    deviation, total = math.sqrt(squared), 0.0
    for k in range(n):
        total += math.exp((scores[k] - top) / deviation)
    return float(math.log(total) - (scores[y] - top) / deviation)
