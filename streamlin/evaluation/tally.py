"""Counts of hits of several predictors at once: over all time, over a window, and fading.

Gama, Sebastião, Rodrigues, Machine Learning 90 (2013) 317-346, for the window and the fading factor.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.curve import POINTS, add_point, events_of, is_point_due, is_progress, new_progress
from streamlin.evaluation.window import Window, window_shares
from streamlin.kernel.late import late_kernel
from streamlin.storage.arrays import Expected, like


class Tally(ArrayState):
    """Weighted accuracy of M predictors; events without label or of weight 0 change nothing.

    For hit h (1 or 0) and weight w of an event::

        running   sum w h / sum w
        window    the same over the last `window` labelled events
        fading    S <- w h + fading S,   N <- w + fading N,   S / N

    The course of the first two is kept as a curve, `streamlin.evaluation.curve`.

    Parameters
    ----------
    predictors : M, their number.
    window : labelled events, > 0.
    fading : between 0 and 1.
    points : room for points of the curve, an even number; 0: no curve.
    """

    arrays = (
        *("hit_weights", "fading_hits", "correct", "abstained", "totals", "count"),
        *("window_labels", "window_predicted", "window_weights", "progress", "points"),
    )

    def __init__(self, predictors: int, window: int = 1000, fading: float = 0.999, points: int = POINTS) -> None:
        self.fading = fading
        self.hit_weights = np.zeros(predictors)
        self.fading_hits = np.zeros(predictors)
        self.correct = np.zeros(predictors, np.int64)
        self.abstained = np.zeros(predictors, np.int64)
        self.totals = np.zeros(2)
        self.count = np.zeros(1, np.int64)
        self.window_labels = np.zeros(window, np.int32)
        self.window_predicted = np.zeros((window, predictors), np.int32)
        self.window_weights = np.zeros(window)
        self.progress = new_progress(points)
        self.points = np.zeros((points, 2, predictors))

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        labels = like(self.window_labels, highest=max(n_labels - 1, 0))
        predicted = like(self.window_predicted, lowest=-2, highest=max(n_labels - 1, 0))
        return super().expected(n_labels) | {"window_labels": labels, "window_predicted": predicted}

    def is_consistent(self) -> bool:
        """See `ArrayState`."""
        counted = max(self.correct.max(initial=0), self.abstained.max(initial=0)) <= self.count[0]
        return bool(counted) and is_progress(self.progress, len(self.points))

    def update(
        self, predicted: NDArray[np.int32], labels: NDArray[np.int32], weights: NDArray[np.float64], leaders: int
    ) -> NDArray[np.int32]:
        """Count a batch of n events.

        predicted int32[M, n]: codes, -1 for an abstention. labels int32[n]: -1 where nothing is to be counted.
        Returns int32[n]: which of the first `leaders` predictors had the best running accuracy before each event, among
        those that do not abstain; ties go to the first.
        """
        lead = np.empty(labels.size, np.int32)
        tally(
            predicted,
            labels,
            weights,
            leaders,
            self.fading,
            self.hit_weights,
            self.fading_hits,
            self.correct,
            self.abstained,
            self.totals,
            self.count,
            self.window_labels,
            self.window_predicted,
            self.window_weights,
            self.progress,
            self.points,
            lead,
        )
        return lead

    def running(self) -> NDArray[np.float64]:
        """float64[M]; NaN while nothing was counted."""
        return _ratio(self.hit_weights, self.totals[0])

    def windowed(self) -> NDArray[np.float64]:
        """float64[M]; NaN while nothing was counted."""
        shares = np.full(self.hit_weights.size, np.nan)
        if self.count[0]:  # the first progress need not wait until this is compiled
            window_shares(*self.window(), shares)
        return shares

    def window(self) -> Window:
        """The last labelled events; not copied."""
        n = int(self.count[0])
        return Window(self.window_labels[:n], self.window_predicted[:n], self.window_weights[:n])

    def curve(self) -> tuple[list[int], NDArray[np.float64]]:
        """Numbers of labelled events, and float64[points, 2, M]: running and windowed accuracy after each of them."""
        events = events_of(self.progress)
        return events, self.points[: len(events)]

    def leader(self, n_learners: int) -> int | None:
        """Which of the first `n_learners` predictors was right most often, weights aside; the first of several.

        None where nothing was counted.
        """
        return int(self.correct[:n_learners].argmax()) if self.count[0] else None

    def faded(self) -> NDArray[np.float64]:
        """float64[M]; NaN while nothing was counted."""
        return _ratio(self.fading_hits, self.totals[1])


def _ratio(hits: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    return hits / total if total > 0 else np.full(hits.shape, np.nan)


@late_kernel
def tally(
    predicted: NDArray[np.int32],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    leaders: int,
    fading: float,
    hit_weights: NDArray[np.float64],
    fading_hits: NDArray[np.float64],
    correct: NDArray[np.int64],
    abstained: NDArray[np.int64],
    totals: NDArray[np.float64],
    count: NDArray[np.int64],
    window_labels: NDArray[np.int32],
    window_predicted: NDArray[np.int32],
    window_weights: NDArray[np.float64],
    progress: NDArray[np.int64],
    points: NDArray[np.float64],
    lead: NDArray[np.int32],
) -> None:
    """Count a batch, event by event.

    hit_weights, fading_hits float64[M], correct, abstained int64[M], totals float64[2] (running, fading weight), count
    int64[1] (events counted), window_labels int32[window], window_predicted int32[window, M], window_weights
    float64[window] (rings), progress int64[3], points float64[room, 2, M] (the curve): changed in place. lead
    int32[n]: set.
    """
    for i in range(labels.size):
        best = 0
        for m in range(1, leaders):
            says, better = predicted[m, i] >= 0, hit_weights[m] > hit_weights[best]
            if says != (predicted[best, i] >= 0):
                better = says
            if better:
                best = m
        lead[i] = best
        if labels[i] < 0:
            continue
        w = weights[i]
        slot = count[0] % window_weights.size
        totals[0] += w
        totals[1] = w + fading * totals[1]
        window_labels[slot] = labels[i]
        window_weights[slot] = w
        for m in range(predicted.shape[0]):
            hit = predicted[m, i] == labels[i]
            abstained[m] += predicted[m, i] == -1
            correct[m] += hit
            hit_weights[m] += w * hit
            fading_hits[m] = w * hit + fading * fading_hits[m]
            window_predicted[slot, m] = predicted[m, i]
        count[0] += 1
        if is_point_due(progress, count[0]):
            filled = min(count[0], window_labels.size)
            add_point(
                hit_weights,
                totals[0],
                window_labels[:filled],
                window_predicted[:filled],
                window_weights[:filled],
                progress,
                points,
            )
