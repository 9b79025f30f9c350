"""ADWIN: a window over a learner's errors that is as long as they stay alike, and begins anew when they change.

Bifet, Gavaldà, SDM (2007) 443-448, variant ADWIN2. The window is kept as buckets of 1, 2, 4, … events, at most five of
each size, of which only the errors are known. Behind every 32nd event all cuts of the window of n events into an older
part 0 and a newer part 1, of at least five events each, are looked at. The parts differ where::

    |u0/n0 - u1/n1| > sqrt(2 m v d) + 2/3 m d
    m = 1/(n0 - 4) + 1/(n1 - 4),   d = ln(2 ln(n) / delta),   v = p (1 - p)
    u0, u1: errors,   p: their share in the window

Then the oldest bucket is dropped, until no parts differ; there was a change, and the next event begins a new window.
The constants, and that nothing outlives a change, are as in river, whose alarms these are, event by event.

Between two looks events only wait in a row. Then all 32 are put into buckets: which of them become one does not depend
on when.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.detector import Changes, Detector, room_for
from streamlin.kernel import kernel

CLOCK, ROWS, BUCKETS = 32, 48, 5
"""Events from look to look; sizes of buckets, 2^0 to 2^47, and how many of a size there may be."""
_WAITING, _WIDTH, _ERRORS, _ROWS = range(4)
_SHORTEST = 5


class Adwin(Detector):
    """For L learners; delta: how likely a false alarm may be at each look."""

    arrays = ("waiting", "numbers", "counts", "buckets")

    def __init__(self, learners: int, delta: float = 0.002) -> None:
        self.delta = delta
        self.waiting = np.zeros((learners, CLOCK), np.int64)
        self.numbers = np.zeros((learners, 4), np.int64)
        self.counts = np.zeros((learners, ROWS), np.int64)
        self.buckets = np.zeros((learners, ROWS, BUCKETS), np.int64)

    def watch(self, predicted: NDArray[np.int32], labels: NDArray[np.int32]) -> Changes:
        changes = room_for(*predicted.shape)
        found = watch(predicted, labels, self.delta, self.waiting, self.numbers, self.counts, self.buckets, *changes)
        return changes.first(found)


@kernel
def watch(
    predicted: NDArray[np.int32],
    labels: NDArray[np.int32],
    delta: float,
    waiting: NDArray[np.int64],
    numbers: NDArray[np.int64],
    counts: NDArray[np.int64],
    buckets: NDArray[np.int64],
    changes: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> int:
    """Watch L learners, one after the other; returns the number of changes.

    waiting int64[L, CLOCK] : errors of events since the last look. Changed in place, like the next three.
    numbers int64[L, 4] : how many these are, events and errors in buckets, sizes of buckets in use.
    counts int64[L, ROWS] : buckets of each size.
    buckets int64[L, ROWS, BUCKETS] : their errors, the oldest first.
    changes int64[:, 2], shares float64[:, 2] : set, see `Changes`; accuracy in what was dropped and in what was left.
    """
    scratch, cuts = np.empty((2, BUCKETS + CLOCK), np.int64), np.empty((2, ROWS * BUCKETS))
    found = 0
    for m in range(numbers.shape[0]):
        own, line = numbers[m], waiting[m]
        n_waiting = own[_WAITING]
        for i in range(labels.size):
            if labels[i] < 0:
                continue
            line[n_waiting] = predicted[m, i] != labels[i]
            n_waiting += 1
            if n_waiting < CLOCK:
                continue
            n_waiting = 0
            insert(line, scratch, own, counts[m], buckets[m])
            n, errors = own[_WIDTH], own[_ERRORS]
            while is_cut(delta, cuts, own, counts[m], buckets[m]):
                drop_oldest(own, counts[m], buckets[m])
            if own[_WIDTH] < n:
                changes[found, 0], changes[found, 1] = i, m
                shares[found, 0] = 1.0 - (errors - own[_ERRORS]) / (n - own[_WIDTH])
                shares[found, 1] = 1.0 - own[_ERRORS] / own[_WIDTH]
                found += 1
                own[:], counts[m], buckets[m] = 0, 0, 0
        own[_WAITING] = n_waiting
    return found


@kernel
def insert(
    line: NDArray[np.int64],
    scratch: NDArray[np.int64],
    numbers: NDArray[np.int64],
    counts: NDArray[np.int64],
    buckets: NDArray[np.int64],
) -> None:
    """Put line, errors int64[CLOCK], into buckets; where there would be a sixth of a size the two oldest become one.

    scratch int64[2, BUCKETS + CLOCK]: overwritten.
    """
    joined, new = scratch[0], scratch[1]
    for k in range(CLOCK):
        new[k] = line[k]
        numbers[_ERRORS] += line[k]
    numbers[_WIDTH] += CLOCK
    row, arriving = 0, CLOCK
    while arriving > 0:
        before = counts[row]
        total = before + arriving
        left = total if total <= BUCKETS else BUCKETS - 1 + total % 2
        for k in range(before):
            joined[k] = buckets[row, k]
        for k in range(arriving):
            joined[before + k] = new[k]
        arriving = (total - left) // 2
        for k in range(arriving):
            new[k] = joined[2 * k] + joined[2 * k + 1]
        for k in range(BUCKETS):
            buckets[row, k] = joined[total - left + k] if k < left else 0
        counts[row] = left
        row += 1
    numbers[_ROWS] = max(numbers[_ROWS], row)


@kernel
def drop_oldest(numbers: NDArray[np.int64], counts: NDArray[np.int64], buckets: NDArray[np.int64]) -> None:
    """Take the oldest bucket out of the window."""
    row = numbers[_ROWS] - 1
    numbers[_WIDTH] -= 1 << row
    numbers[_ERRORS] -= buckets[row, 0]
    for k in range(BUCKETS - 1):
        buckets[row, k] = buckets[row, k + 1]
    buckets[row, BUCKETS - 1] = 0
    counts[row] -= 1
    if counts[row] == 0:
        numbers[_ROWS] -= 1


@kernel
def is_cut(
    delta: float,
    cuts: NDArray[np.float64],
    numbers: NDArray[np.int64],
    counts: NDArray[np.int64],
    buckets: NDArray[np.int64],
) -> bool:
    """Whether there is a cut whose parts differ. cuts float64[2, ROWS * BUCKETS]: overwritten by n0 and u0 of each."""
    n, errors = float(numbers[_WIDTH]), float(numbers[_ERRORS])
    older = older_errors = n_cuts = 0
    for row in range(numbers[_ROWS] - 1, -1, -1):
        for k in range(
            BUCKETS
        ):  # of those that are not there too: a cut twice costs less than to look how many there are
            older += (k < counts[row]) << row
            older_errors += buckets[row, k]
            cuts[0, n_cuts], cuts[1, n_cuts] = older, older_errors
            n_cuts += 1
    d = np.log(2.0 * np.log(n) / delta)
    v = errors / n * (1.0 - errors / n)
    if not may_differ(n, errors, 2.0 * v * d, cuts[0, :n_cuts], cuts[1, :n_cuts]):
        return False
    for k in range(n_cuts):
        n0, u0 = cuts[0, k], cuts[1, k]
        n1, u1 = n - n0, errors - u0
        if n0 >= _SHORTEST and n1 >= _SHORTEST:
            m = 1.0 / (n0 - _SHORTEST + 1.0) + 1.0 / (n1 - _SHORTEST + 1.0)
            if abs(u0 / n0 - u1 / n1) > np.sqrt(2.0 * m * v * d) + 2.0 / 3.0 * m * d:
                return True
    return False


@kernel
def may_differ(
    n: float, errors: float, factor: float, lengths: NDArray[np.float64], older: NDArray[np.float64]
) -> bool:
    """Whether the parts of a cut differ by more than sqrt(2 m v d), the larger term: without a root or a division.

    factor : 2 v d. lengths, older float64[cuts] : n0 and u0. Almost never true, and 100 cuts are looked at each time.
    """
    found = False
    for k in range(lengths.size):
        n0 = lengths[k]
        n1 = n - n0
        a, b = n0 - _SHORTEST + 1.0, n1 - _SHORTEST + 1.0
        difference, product = older[k] * n - errors * n0, n0 * n1
        found |= (a >= 1.0) & (b >= 1.0) & (difference * difference * a * b > factor * (a + b) * product * product)
    return found
