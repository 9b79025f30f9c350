"""New words: the share of a stream's tokens that no event before had, and alarms where it rises. No label is needed.

One bit for each bucket of hashed words tells whether it was seen (Bloom, CACM 13 (1970) 422-426, with one hash).
For x, the share of new tokens in an event, and m and v, its fading mean and variance before the event::

    z = min(3, (x - m) / sqrt(v + 1e-6))
    S <- max(0, S + z - 0.25)                  from the 201st event on
    an alarm   S > threshold

    r = max(1/t, 0.005),   v <- (1 - r) (v + r (x - m)^2),   m <- m + r (x - m)

t counts the events since the start or the last alarm; then S, m and v start over. The share falls as words become
known, so only a rise is of interest: this is the one-sided cumulative sum of Page, Biometrika 41 (1954) 100-115.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.curve import COUNT, POINTS, events_of, is_point_due, is_progress, keep_point, new_progress
from streamlin.evaluation.drift import KEPT, Alarm
from streamlin.kernel import kernel

_MOST_BITS = 24
"""Two megabytes of bits."""
_REST, _LARGEST, _FADING, _FIRST, _LEAST = 0.25, 3.0, 0.005, 200.0, 1e-6
_ROOM = 200
"""The fewest events between two alarms."""
_SUM, _MEAN, _VARIANCE, _COUNT, _BEFORE, _SINCE, _SHARES = range(7)
TOKENS, NEW = range(2)


class Counted(NamedTuple):
    """The state that `count_tokens` changes; see `Novelty`."""

    seen: NDArray[np.uint8]
    totals: NDArray[np.int64]
    events: NDArray[np.int64]
    recent: NDArray[np.int32]
    window: NDArray[np.int64]
    sums: NDArray[np.float64]
    progress: NDArray[np.int64]
    points: NDArray[np.float64]


class Novelty(ArrayState):
    """Counts tokens that no event before had, and watches their share. Events of weight 0 or without tokens change
    nothing; all others count the same.

    Parameters
    ----------
    bits : words are hashed into 2^bits buckets, at most 2^24. A word that shares a bucket with an earlier one is not
        new.
    config : the window and the threshold of alarms.

    Attributes
    ----------
    seen : uint8[2^bits / 8], a bit for each bucket.
    totals, window : int64[2], tokens and new ones; of all events, and of the last ones.
    events : int64[1], with tokens. recent : int32[window, 2], tokens and new ones of the last events, a ring.
    sums : float64[7], S, m, v and t; m when S was last 0, the events since then, and the sum of their shares.
    progress : int64[3], points : float64[512, 2], the curve: the share of all events, and of the last ones.
    alarms : the last ones. total : how many there were.
    """

    arrays = Counted._fields

    def __init__(self, bits: int, config: EvaluationConfig) -> None:
        self.threshold = config.novelty_threshold
        self.seen = np.zeros(max(1, (1 << min(bits, _MOST_BITS)) // 8), np.uint8)
        self.totals, self.window = np.zeros(2, np.int64), np.zeros(2, np.int64)
        self.events = np.zeros(1, np.int64)
        self.recent = np.zeros((config.window, 2), np.int32)
        self.sums = np.zeros(7)
        self.progress, self.points = new_progress(POINTS), np.zeros((POINTS, 2))
        self.alarms: list[Alarm] = []
        self._new_alarms: list[Alarm] = []
        self.total = 0

    def is_consistent(self) -> bool:
        """See `ArrayState`."""
        fits = np.array_equal(self.recent.sum(axis=0, dtype=np.int64), self.window)
        return bool(fits and (self.window <= self.totals).all()) and is_progress(self.progress, POINTS)

    def update(
        self,
        indptr: NDArray[np.int64],
        hashes: NDArray[np.uint64],
        counted: NDArray[np.bool_],
        number: Callable[[int], int],
        position: Callable[[int], str],
    ) -> NDArray[np.float64]:
        """Count a batch of n texts; returns float64[n], the share of new tokens in each, NaN where there is no token.

        indptr int64[n + 1], hashes uint64[m] : the tokens of each text. counted bool[n] : whether a text counts.
        number, position : of the i-th text, for alarms.
        """
        shares = np.empty(counted.size)
        where = np.empty(counted.size // _ROOM + 1, np.int64)
        means = np.empty((where.size, 2))
        state = Counted(*(getattr(self, name) for name in self.arrays))
        found = count_tokens(indptr, hashes, counted, self.threshold, state, shares, where, means)
        alarms: list[Alarm] = [
            {"event": number(i), "position": position(i), "before": before, "after": after}
            for i, (before, after) in zip(where[:found].tolist(), means[:found].tolist(), strict=True)
        ]
        self.total += found
        self._new_alarms += alarms
        self.alarms = (self.alarms + alarms)[-KEPT:]
        return shares

    def pop_alarms(self) -> list[Alarm]:
        """The alarms since the last call, which removes them."""
        alarms, self._new_alarms = self._new_alarms, []
        return alarms

    def shares(self, indptr: NDArray[np.int64], hashes: NDArray[np.uint64]) -> NDArray[np.float64]:
        """What `update` would return; nothing is counted."""
        shares = np.empty(indptr.size - 1)
        for_each_text(indptr, hashes, self.seen, shares)
        return shares

    def to_json(self, details: bool = True) -> dict[str, Any]:
        """As the report has it; details : with the curve."""
        shares = {f"{span}share": _share(counts) for span, counts in (("", self.totals), ("window_", self.window))}
        tokens, new = self.totals.tolist()
        report = {"tokens": tokens, "new": new, **shares, **self.rest()}
        if details:
            events = events_of(self.progress)
            running, recent = np.round(self.points[: len(events)], 6).T.tolist()
            report["curve"] = {"events": events, "share": running, "window_share": recent}
        return report

    def rest(self) -> dict[str, Any]:
        """What a checkpoint holds besides the arrays."""
        return {"alarms": self.total, "last_alarms": self.alarms}

    def restore_rest(self, rest: Mapping[str, Any]) -> None:
        """Take over what `rest` returned."""
        self.alarms, self.total = list(rest["last_alarms"]), rest["alarms"]


def describe_new_words(alarms: list[Alarm]) -> list[str]:
    """A line for each alarm."""
    return [
        f"new words: {100 * alarm['before']:.1f} to {100 * alarm['after']:.1f} % of the tokens, seen at event "
        f"{alarm['event']:,} ({alarm['position']})"
        for alarm in alarms
    ]


def _share(counts: NDArray[np.int64]) -> float | None:
    tokens, new = counts.tolist()
    return new / tokens if tokens else None


@kernel
def count_tokens(
    indptr: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    counted: NDArray[np.bool_],
    threshold: float,
    state: Counted,
    shares: NDArray[np.float64],
    where: NDArray[np.int64],
    means: NDArray[np.float64],
) -> int:
    """Count n texts, one after the other; returns the number of alarms.

    state : changed in place. shares float64[n], where int64[:], the texts of alarms, and means float64[:, 2], the mean
    shares before and after the change : set.
    """
    found = 0
    for i in range(counted.size):
        tokens = indptr[i + 1] - indptr[i]
        new = count_new(hashes[indptr[i] : indptr[i + 1]], state.seen)
        shares[i] = new / tokens if tokens else np.nan
        if not counted[i] or tokens == 0:
            continue
        if new:
            add_words(hashes[indptr[i] : indptr[i + 1]], state.seen)
        slot = state.events[0] % state.recent.shape[0]
        state.events[0] += 1
        for column, number in ((TOKENS, tokens), (NEW, new)):
            state.totals[column] += number
            state.window[column] += number - state.recent[slot, column]
            state.recent[slot, column] = number
        if is_point_due(state.progress, state.events[0]):
            point = state.points[state.progress[COUNT]]
            point[0] = state.totals[NEW] / state.totals[TOKENS]
            point[1] = state.window[NEW] / state.window[TOKENS]
            keep_point(state.progress, state.points[:, np.newaxis])
        if watch_share(shares[i], threshold, state.sums):
            where[found], means[found, 0] = i, state.sums[_BEFORE]
            means[found, 1] = state.sums[_SHARES] / state.sums[_SINCE]
            state.sums[:] = 0.0
            found += 1
    return found


@kernel
def watch_share(share: float, threshold: float, sums: NDArray[np.float64]) -> bool:
    """Add the share of one event to sums float64[7]; returns whether that is an alarm."""
    deviation = share - sums[_MEAN]
    if sums[_COUNT] >= _FIRST:
        z = min(_LARGEST, deviation / math.sqrt(sums[_VARIANCE] + _LEAST))
        sums[_SUM] = max(0.0, sums[_SUM] + z - _REST)
        sums[_SINCE] += 1.0
        sums[_SHARES] += share
        if sums[_SUM] == 0.0:
            sums[_BEFORE], sums[_SINCE], sums[_SHARES] = sums[_MEAN], 0.0, 0.0
        elif sums[_SUM] > threshold:
            return True
    sums[_COUNT] += 1.0
    r = max(1.0 / sums[_COUNT], _FADING)
    sums[_VARIANCE] = (1.0 - r) * (sums[_VARIANCE] + r * deviation * deviation)
    sums[_MEAN] += r * deviation
    return False


@kernel
def for_each_text(
    indptr: NDArray[np.int64], hashes: NDArray[np.uint64], seen: NDArray[np.uint8], shares: NDArray[np.float64]
) -> None:
    """Set shares float64[n] to the share of new tokens in each text."""
    for i in range(shares.size):
        tokens = indptr[i + 1] - indptr[i]
        shares[i] = count_new(hashes[indptr[i] : indptr[i + 1]], seen) / tokens if tokens else np.nan


@kernel
def count_new(hashes: NDArray[np.uint64], seen: NDArray[np.uint8]) -> int:
    """How many of a text's tokens no event before had."""
    mask = np.uint64(seen.size * 8 - 1)
    new = 0
    for token in range(hashes.size):
        bucket = hashes[token] & mask
        new += 1 - ((seen[bucket >> np.uint64(3)] >> np.uint8(bucket & np.uint64(7))) & 1)
    return new


@kernel
def add_words(hashes: NDArray[np.uint64], seen: NDArray[np.uint8]) -> None:
    """Remember a text's tokens."""
    mask = np.uint64(seen.size * 8 - 1)
    for token in range(hashes.size):
        bucket = hashes[token] & mask
        seen[bucket >> np.uint64(3)] |= np.uint8(1 << (bucket & np.uint64(7)))
