"""The base of drift detectors, which watch the errors of learners for a change."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.kernel import kernel

RAREST = 30
"""The fewest labelled events between two changes of one learner, for every detector."""
N, ERRORS, MEAN = range(3)
"""Columns that `add_error` updates."""


class Changes(NamedTuple):
    """Changes found in a batch.

    where : int64[n, 2], the number of the event in the batch, and the learner. accuracies : float64[n, 2], before the
    change, and after it up to that event.
    """

    where: NDArray[np.int64]
    accuracies: NDArray[np.float64]

    def first(self, n: int) -> "Changes":
        """The first n, found learner by learner, sorted by event, then by learner."""
        order = np.lexsort((self.where[:n, 1], self.where[:n, 0]))
        return Changes(self.where[order], self.accuracies[order])


class Detector(ArrayState):
    """Watches the errors of each learner separately. Weights do not count; an abstention is an error."""

    def watch(self, predicted: NDArray[np.int32], labels: NDArray[np.int32]) -> Changes:
        """Changes in a batch of predicted int32[L, n] and labels int32[n], -1: no label."""
        raise NotImplementedError


def room_for(learners: int, n: int) -> Changes:
    """Room for the most changes that n events can have."""
    most = learners * (n // RAREST + 1)
    return Changes(np.empty((most, 2), np.int64), np.empty((most, 2)))


@kernel
def add_error(sums: NDArray[np.float64], error: bool) -> None:
    """Count an event, errors and their mean in sums float64[>= 3]; the mean is rounded like river's."""
    sums[N] += 1.0
    sums[ERRORS] += error
    sums[MEAN] += (error - sums[MEAN]) / sums[N]
