"""The Page-Hinkley test: deviations of errors from their mean add up once the mean has changed.

Page, Biometrika 41 (1954) 100-115; Mouss et al., ASCC 5 (2004) 815-818. For the t-th error x (1 or 0) and the mean of
all t::

    U <- 0.9999 U + x - mean - delta,   D <- 0.9999 D + x - mean + delta
    a change   U - min U > threshold,   or max D - D > threshold;   t >= 30

It is dated to where U was least, or D greatest. Then all sums start over. Constants and alarms equal river's.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.detector import ERRORS, MEAN, RAREST, Changes, Detector, N, add_error, room_for
from streamlin.kernel.late import late_kernel

_UP, _DOWN, _LOWEST, _N_LOWEST, _ERRORS_LOWEST, _HIGHEST, _N_HIGHEST, _ERRORS_HIGHEST = range(3, 11)
_FADING = 1 - 0.0001


class PageHinkley(Detector):
    """For L learners; delta: the deviation tolerated at each event; threshold: the sum that is a change."""

    arrays = ("sums",)

    def __init__(self, learners: int, delta: float = 0.005, threshold: float = 50.0) -> None:
        self.delta, self.threshold = delta, threshold
        self.sums = np.zeros((learners, 11))

    def watch(self, predicted: NDArray[np.int32], labels: NDArray[np.int32]) -> Changes:
        changes = room_for(*predicted.shape)
        return changes.first(watch(predicted, labels, self.delta, self.threshold, self.sums, *changes))


@late_kernel
def watch(
    predicted: NDArray[np.int32],
    labels: NDArray[np.int32],
    delta: float,
    threshold: float,
    sums: NDArray[np.float64],
    changes: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> int:
    """Watch L learners, one after the other; returns the number of changes.

    sums float64[L, 11] : events, errors, their mean, U, D; the least U, events and errors up to it; the greatest D,
    likewise. Changed in place. changes int64[:, 2], shares float64[:, 2] : set, see `Changes`.
    """
    found = 0
    for m in range(sums.shape[0]):
        own = sums[m]
        for i in range(labels.size):
            if labels[i] < 0:
                continue
            error = predicted[m, i] != labels[i]
            add_error(own, error)
            own[_UP] = _FADING * own[_UP] + (error - own[MEAN]) - delta
            own[_DOWN] = _FADING * own[_DOWN] + (error - own[MEAN]) + delta
            if own[N] == 1.0 or own[_UP] < own[_LOWEST]:
                own[_LOWEST], own[_N_LOWEST], own[_ERRORS_LOWEST] = own[_UP], own[N], own[ERRORS]
            if own[N] == 1.0 or own[_DOWN] > own[_HIGHEST]:
                own[_HIGHEST], own[_N_HIGHEST], own[_ERRORS_HIGHEST] = own[_DOWN], own[N], own[ERRORS]
            worse = own[_UP] - own[_LOWEST] > threshold
            if own[N] < RAREST or not (worse or own[_HIGHEST] - own[_DOWN] > threshold):
                continue
            n = own[_N_LOWEST] if worse else own[_N_HIGHEST]
            errors = own[_ERRORS_LOWEST] if worse else own[_ERRORS_HIGHEST]
            changes[found, 0], changes[found, 1] = i, m
            shares[found, 0] = 1.0 - errors / n
            shares[found, 1] = 1.0 - (own[ERRORS] - errors) / (own[N] - n)
            found += 1
            own[:] = 0.0
    return found
