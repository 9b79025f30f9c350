"""ADWIN: a window over a learner's errors that grows while they stay alike, and starts over when they change.

Bifet, Gavaldà, SDM (2007) 443-448, variant ADWIN2. The window is kept as buckets of 1, 2, 4, … events, at most five of
each size, of which only the errors are kept. After every 32nd event all cuts of the window of n events into an older
part 0 and a newer part 1, of at least five events each, are checked. The parts differ where::

    |u0/n0 - u1/n1| > sqrt(2 m v d) + 2/3 m d
    m = 1/(n0 - 4) + 1/(n1 - 4),   d = ln(2 ln(n) / delta),   v = p (1 - p)
    u0, u1: errors,   p: their share in the window

Then the oldest bucket is dropped until no parts differ. That is a change, and the next event begins a new window. The
constants, and that nothing survives a change, are river's; the alarms equal river's, event by event.

Between two checks the events are only collected, then all 32 are put into buckets at once; when they are inserted does
not change which buckets are merged.
"""

from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.detector import Changes, Detector, room_for
from streamlin.kernel import kernel
from streamlin.kernel.late import late_kernel
from streamlin.storage.arrays import Expected, like

CLOCK, ROWS, BUCKETS = 32, 48, 5
"""Events between two checks; the number of bucket sizes, 2^0 to 2^47, and the most buckets of one size."""
_WAITING, _WIDTH, _ERRORS, _ROWS = range(4)
_SHORTEST = 5


class Adwin(Detector):
    """For L learners; delta: the probability of a false alarm at each check, at most."""

    arrays = ("waiting", "numbers", "counts", "buckets")

    def __init__(self, learners: int, delta: float = 0.002) -> None:
        self.delta = delta
        self.waiting = np.zeros((learners, CLOCK), np.int64)
        self.numbers = np.zeros((learners, 4), np.int64)
        self.counts = np.zeros((learners, ROWS), np.int64)
        self.buckets = np.zeros((learners, ROWS, BUCKETS), np.int64)

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        waiting, counts = like(self.waiting, highest=1), like(self.counts, highest=BUCKETS)
        return super().expected(n_labels) | {"waiting": waiting, "counts": counts}

    def is_consistent(self) -> bool:
        """See `ArrayState`; otherwise a window might never be empty."""
        sizes = 1 << np.arange(ROWS)
        rows = ROWS - (self.counts[:, ::-1] > 0).argmax(axis=1)
        rows[~self.counts.any(axis=1)] = 0
        unused = np.arange(BUCKETS) >= self.counts[:, :, np.newaxis]
        return bool(
            (self.numbers[:, _WAITING] < CLOCK).all()
            and (self.buckets <= sizes[:, np.newaxis]).all()
            and not self.buckets[unused].any()
            and (self.numbers[:, _WIDTH] == self.counts @ sizes).all()
            and (self.numbers[:, _ERRORS] == self.buckets.sum(axis=(1, 2))).all()
            and (self.numbers[:, _ROWS] == rows).all()
        )

    def watch(self, predicted: NDArray[np.int32], labels: NDArray[np.int32]) -> Changes:
        changes = room_for(*predicted.shape)
        found = watch(predicted, labels, self.delta, self.waiting, self.numbers, self.counts, self.buckets, *changes)
        return changes.first(found)


@late_kernel
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

    waiting int64[L, CLOCK] : errors of the events since the last check. Changed in place, like the next three.
    numbers int64[L, 4] : how many events wait, events and errors in buckets, bucket sizes in use.
    counts int64[L, ROWS] : buckets of each size.
    buckets int64[L, ROWS, BUCKETS] : their errors, the oldest first.
    changes int64[:, 2], shares float64[:, 2] : set, see `Changes`; accuracy in the dropped and in the kept part.
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
                clear(own, counts[m], buckets[m])
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
    """Put line, errors int64[CLOCK], into buckets; instead of a sixth bucket of a size the two oldest are merged.

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
    """Remove the oldest bucket from the window."""
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
def clear(numbers: NDArray[np.int64], counts: NDArray[np.int64], buckets: NDArray[np.int64]) -> None:
    """Empty the window."""
    for k in range(numbers.size):
        numbers[k] = 0
    for row in range(counts.size):
        counts[row] = 0
        for k in range(buckets.shape[1]):
            buckets[row, k] = 0


@kernel
def is_cut(
    delta: float,
    cuts: NDArray[np.float64],
    numbers: NDArray[np.int64],
    counts: NDArray[np.int64],
    buckets: NDArray[np.int64],
) -> bool:
    """Whether the parts of any cut differ. cuts float64[2, ROWS * BUCKETS]: overwritten with n0 and u0 of each."""
    n, errors = float(numbers[_WIDTH]), float(numbers[_ERRORS])
    older = older_errors = n_cuts = 0
    for row in range(numbers[_ROWS] - 1, -1, -1):
        for k in range(BUCKETS):  # all of them: the same cut twice costs less than a loop of variable length
            older += (k < counts[row]) << row
            older_errors += buckets[row, k]
            cuts[0, n_cuts], cuts[1, n_cuts] = older, older_errors
            n_cuts += 1
    d = log(2.0 * log(n) / delta)
    v = errors / n * (1.0 - errors / n)
    if not may_differ(n, errors, 2.0 * v * d, cuts[0, :n_cuts], cuts[1, :n_cuts]):
        return False
    for k in range(n_cuts):
        n0, u0 = cuts[0, k], cuts[1, k]
        n1, u1 = n - n0, errors - u0
        if n0 >= _SHORTEST and n1 >= _SHORTEST:
            m = 1.0 / (n0 - _SHORTEST + 1.0) + 1.0 / (n1 - _SHORTEST + 1.0)
            if abs(u0 / n0 - u1 / n1) > sqrt(2.0 * m * v * d) + 2.0 / 3.0 * m * d:
                return True
    return False


@kernel
def may_differ(
    n: float, errors: float, factor: float, lengths: NDArray[np.float64], older: NDArray[np.float64]
) -> bool:
    """Whether the parts of any cut differ by more than sqrt(2 m v d), the larger term; without root or division.

    factor : 2 v d. lengths, older float64[cuts] : n0 and u0. Almost always False, so 100 cuts are ruled out cheaply.
    """
    found = False
    for k in range(lengths.size):
        n0 = lengths[k]
        n1 = n - n0
        a, b = n0 - _SHORTEST + 1.0, n1 - _SHORTEST + 1.0
        difference, product = older[k] * n - errors * n0, n0 * n1
        found |= (a >= 1.0) & (b >= 1.0) & (difference * difference * a * b > factor * (a + b) * product * product)
    return found
