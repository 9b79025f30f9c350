"""DDM: while nothing changes the share of errors falls, so an error rate well above its lowest level is a change.

Gama, Medas, Castillo, Rodrigues, SBIA (2004) 286-295. For the share p of errors in t > 30 events, its deviation
s = sqrt(p (1 - p) / t), and p', s' those where p + s was lowest::

    a warning   p + s > p' + 2 s'
    a change    p + s > p' + threshold s'

It is dated to where the last warning began. Then all sums start over. The alarms equal river's.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.detector import ERRORS, MEAN, RAREST, Changes, Detector, N, add_error, room_for
from streamlin.kernel.late import late_kernel

_LOWEST_MEAN, _LOWEST_DEVIATION, _N_CALM, _ERRORS_CALM = range(3, 7)
_WARNING = 2.0


class Ddm(Detector):
    """For L learners; threshold: the standard deviations of a change, at least the 2 of a warning."""

    arrays = ("sums",)

    def __init__(self, learners: int, threshold: float = 3.0) -> None:
        self.threshold = threshold
        self.sums = np.zeros((learners, 7))

    def watch(self, predicted: NDArray[np.int32], labels: NDArray[np.int32]) -> Changes:
        changes = room_for(*predicted.shape)
        return changes.first(watch(predicted, labels, self.threshold, self.sums, *changes))


@late_kernel
def watch(
    predicted: NDArray[np.int32],
    labels: NDArray[np.int32],
    threshold: float,
    sums: NDArray[np.float64],
    changes: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> int:
    """Watch L learners, one after the other; returns the number of changes.

    sums float64[L, 7] : events, errors, their mean, p', s', events and errors before the last warning.
    Changed in place. changes int64[:, 2], shares float64[:, 2] : set, see `Changes`.
    """
    found = 0
    for m in range(sums.shape[0]):
        own = sums[m]
        for i in range(labels.size):
            if labels[i] < 0:
                continue
            add_error(own, predicted[m, i] != labels[i])
            if own[N] <= RAREST:
                continue
            deviation = sqrt(own[MEAN] * (1.0 - own[MEAN]) / own[N])
            level = own[MEAN] + deviation
            if own[N] == RAREST + 1 or level <= own[_LOWEST_MEAN] + own[_LOWEST_DEVIATION]:
                own[_LOWEST_MEAN], own[_LOWEST_DEVIATION] = own[MEAN], deviation
            if level <= own[_LOWEST_MEAN] + _WARNING * own[_LOWEST_DEVIATION]:
                own[_N_CALM], own[_ERRORS_CALM] = own[N], own[ERRORS]
            if level > own[_LOWEST_MEAN] + threshold * own[_LOWEST_DEVIATION]:
                changes[found, 0], changes[found, 1] = i, m
                shares[found, 0] = 1.0 - own[_ERRORS_CALM] / own[_N_CALM]
                shares[found, 1] = 1.0 - (own[ERRORS] - own[_ERRORS_CALM]) / (own[N] - own[_N_CALM])
                found += 1
                own[:] = 0.0
    return found
