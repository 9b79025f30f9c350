"""KSWIN: the newer part of a sliding window against its older part, by the test of Kolmogorov and Smirnov.

Raab, Heusinger, Schleif, Neurocomputing 416 (2020) 340-351; Hodges, Arkiv för Matematik 3 (1958) 469-486, for the p. Of
the last `window` events the newest `stat_size` are R, the m others W. As both samples hold only hits and errors, the
statistic of the test is the distance of their error rates. There is a change where::

    D = |errors in R / stat_size - errors in W / m| > 0.1,   and P(D as large, or larger) <= alpha

Then the window starts over. P is the exact one, for samples without ties, as in scipy. Hits and errors are all ties,
which make a large D rarer, so there are fewer false alarms at each check than alpha; there is a check at every event.

This differs from river's KSWIN by choice. river compares R with `stat_size` events drawn from W at random, so its
alarms depend on a seed; here R is compared with all of W, so a run is repeatable, and the error rate of W is known more
precisely. The test and the thresholds are the same.
"""

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.detector import Changes, Detector, room_for
from streamlin.kernel import kernel
from streamlin.storage.arrays import Expected, like

_N, _OLDER, _NEWER = range(3)


class Kswin(Detector):
    """For L learners.

    Parameters
    ----------
    alpha : the probability of a false alarm at each check, at most.
    window : events, at least `streamlin.evaluation.detector.RAREST`.
    stat_size : events of the newer part, at least 1 and fewer than `window`.
    """

    arrays = ("errors", "numbers")

    def __init__(self, learners: int, alpha: float = 0.005, window: int = 100, stat_size: int = 30) -> None:
        self.stat_size = stat_size
        self.least = least_change(stat_size, window - stat_size, alpha)
        self.errors = np.zeros((learners, window), np.int64)
        self.numbers = np.zeros((learners, 3), np.int64)

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        return super().expected(n_labels) | {"errors": like(self.errors, highest=1)}

    def watch(self, predicted: NDArray[np.int32], labels: NDArray[np.int32]) -> Changes:
        changes = room_for(*predicted.shape)
        return changes.first(watch(predicted, labels, self.stat_size, self.least, self.errors, self.numbers, *changes))


def least_change(newer: int, older: int, alpha: float) -> int:
    """The least distance of error rates that is a change, times the events of both parts: a whole number."""
    gaps = range(newer * older // 10 + 1, newer * older + 1)
    if p_value(newer, older, gaps[0]) <= alpha:  # as in a large window, where each p is slow to compute
        return gaps[0]
    return gaps[0] + bisect_left(gaps, True, key=lambda gap: p_value(newer, older, gap) <= alpha)


@kernel
def p_value(first: int, second: int, gap: int) -> float:
    """The probability that two samples of one distribution are gap / (first second) apart somewhere, or further.

    first, second : their sizes. Sorted together, the samples are a path through a grid, `first` steps down and `second`
    to the right, and all paths are equally likely. Each remaining step may be the next one; the probability of leaving
    the strip around the diagonal is summed over the points where a path first leaves it.
    """
    row, outside = np.zeros(second + 1), 0.0
    row[0] = 1.0
    for i in range(first + 1):
        for j in range(second + 1):
            left = first + second - i - j + 1
            if left > first + second:  # the start
                continue
            share = row[j] * (first - i + 1) / left if i > 0 else 0.0
            if j > 0:
                share += row[j - 1] * (second - j + 1) / left
            if abs(i * second - j * first) >= gap:
                outside += share
                share = 0.0
            row[j] = share
    return outside


@kernel
def watch(
    predicted: NDArray[np.int32],
    labels: NDArray[np.int32],
    stat_size: int,
    least: int,
    errors: NDArray[np.int64],
    numbers: NDArray[np.int64],
    changes: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> int:
    """Watch L learners, one after the other; returns the number of changes.

    least : see `least_change`.
    errors int64[L, window] : 1 for each error among the last events, a ring. Changed in place, like the next one.
    numbers int64[L, 3] : events so far, errors in the older and in the newer part.
    changes int64[:, 2], shares float64[:, 2] : set, see `Changes`; accuracy in the older and in the newer part.
    """
    window = errors.shape[1]
    older = window - stat_size
    found = 0
    for m in range(numbers.shape[0]):
        own, ring = numbers[m], errors[m]
        for i in range(labels.size):
            if labels[i] < 0:
                continue
            slot = own[_N] % window
            ages = ring[slot - stat_size if slot >= stat_size else slot - stat_size + window]
            own[_OLDER] += ages - ring[slot]
            ring[slot] = predicted[m, i] != labels[i]
            own[_NEWER] += ring[slot] - ages
            own[_N] += 1
            if own[_N] >= window and abs(own[_NEWER] * older - own[_OLDER] * stat_size) >= least:
                changes[found, 0], changes[found, 1] = i, m
                shares[found, 0] = 1.0 - own[_OLDER] / older
                shares[found, 1] = 1.0 - own[_NEWER] / stat_size
                found += 1
                own[:], ring[:] = 0, 0
    return found
