"""Probabilities from scores, by a temperature learned online, and the sums that their losses are computed from.

Guo et al., ICML 34 (2017) 1321-1330, for the temperature and the expected calibration error; Duchi et al., JMLR 12
(2011) 2121-2159, for the step, with a fading sum; Brier, Monthly Weather Review 78 (1950) 1-3.
"""

from collections.abc import Sequence
from math import isfinite, log, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.label_sums import LARGE
from streamlin.evaluation.temperature import adjust, factor_of, powers_of, variance
from streamlin.evaluation.window import Window
from streamlin.kernel import kernel
from streamlin.kernel.late import late_kernel

BINS = 10
_SMALLEST = 1e-15
"""The log loss of a smaller probability is that of this one."""
_NO_MARGINS = np.empty(0)


class Losses(NamedTuple):
    """Sums by weight for L learners, over some events.

    sums : float64[L, 3], of w, w log loss, w Brier. bins : float64[L, 10, 3], of w, w c, w h by confidence c.
    """

    sums: NDArray[np.float64]
    bins: NDArray[np.float64]


class Calibration(ArrayState):
    """Probabilities of L learners, each made before the label is seen, then scored against it; see `temperature`.

    For weight w, label y, probabilities p of an event, and its top label's, which is the confidence c::

        log loss   sum w (-log max(p_y, 1e-15)) / sum w
        Brier      sum w sum_k (p_k - [k = y])^2 / sum w
        ECE        sum_b |sum_b w c - sum_b w h| / sum w,   h = 1 for a hit, over 10 bins b, c in [b/10, (b+1)/10)

    A label that is no candidate has p_y = 0. An abstention, and scores that overflowed, have p = 0 for every label, so
    their Brier score is 1; they have no confidence and are in no bin, nor in ECE's sum of w. Fading sums are kept like
    those of `label_sums`.

    Parameters
    ----------
    calibrated : bool for each of L; True: the softmax of its scores is its probabilities, without a temperature.
    window : labelled events; 0: sums over all time alone, neither windowed nor fading.
    fading : between 0 and 1.
    """

    arrays = ("temperatures", "sums", "bins", "events", "scales", "recent")

    def __init__(self, calibrated: Sequence[bool], window: int = 0, fading: float = 0.999) -> None:
        self.calibrated, self.fading = np.array(calibrated, np.bool_), fading
        n = len(calibrated)
        self.temperatures = np.zeros((n, 4))
        self.sums = np.zeros((n, 2, 3))
        self.bins = np.zeros((n, 2, BINS, 3))
        self.events = np.zeros((n, BINS), np.int64)
        self.scales = np.ones(n)
        self.recent = np.zeros((n, window, 3))

    def update(
        self,
        scores: NDArray[np.float64],
        predicted: NDArray[np.int32],
        lead: NDArray[np.int32],
        labels: NDArray[np.int32],
        weights: NDArray[np.float64],
        counted: int,
        margins: NDArray[np.float64] = _NO_MARGINS,
    ) -> NDArray[np.float64]:
        """Count, then learn from, a batch of n events; an event without label changes nothing.

        scores float64[L, n, n_labels]: -inf behind the candidates. predicted int32[L, n]: their best, -1 for an
        abstention. lead int32[n]: a learner. labels int32[n]: -1 where nothing is to be counted. counted: labelled
        events before the batch. margins float64[n], or empty: set to how far the lead's highest probability is ahead
        of its second, 0 for an abstention and overflowed scores.
        Returns float64[n]: the lead's confidences, above 0 and at most 1; NaN for an abstention and overflowed scores.
        """
        confidences = np.empty(labels.size)
        calibrate(
            scores,
            predicted,
            lead,
            labels,
            weights,
            counted,
            1.0 / self.fading,
            self.calibrated,
            self.temperatures,
            self.sums,
            self.bins,
            self.events,
            self.scales,
            self.recent,
            confidences,
            margins,
        )
        return confidences

    def probabilities(self, learner: int, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, n_labels], from one learner's scores of that shape; 0 for an abstention and overflowed scores."""
        shares, state = np.zeros(scores.shape), self.temperatures[learner]
        for s, powers in zip(scores, shares, strict=True):
            known = int((s > -np.inf).sum())
            top = s.max(initial=-np.inf)
            spread = variance(s, top, known) if known and top < np.inf else nan
            factor = 1.0 if self.calibrated[learner] else factor_of(state, spread)
            if spread * factor * factor < np.inf:  # else no candidate, or overflowed scores
                powers[:known] *= powers_of(s, top, known, factor, powers)[0]
        return shares

    def running(self) -> Losses:
        """Over all time."""
        return Losses(self.sums[:, 0], self.bins[:, 0])

    def faded(self) -> Losses:
        """Over all time, fading; scaled, so that only ratios mean anything."""
        return Losses(self.sums[:, 1], self.bins[:, 1])

    def windowed(self, window: Window) -> Losses:
        """Over the events of a window, in which the learners stand first."""
        losses = Losses(np.zeros_like(self.sums[:, 0]), np.zeros_like(self.bins[:, 0]))
        for m, recent in enumerate(self.recent[:, : window.labels.size]):
            log_loss, brier, confidence = recent.T
            weights, one = window.weights, np.zeros(len(recent), np.int64)
            with np.errstate(over="ignore"):
                sums = weights, weights * log_loss, weights * brier
            for k, values in enumerate(sums):
                losses.sums[m, k] = np.bincount(one, values, 1)[0]  # event by event, which `sum` is not
            told = confidence > 0.0
            bins = np.minimum(confidence[told] * BINS, BINS - 1.0).astype(np.int64)
            hits = window.predicted[told, m] == window.labels[told]
            for k, factor in enumerate((1.0, confidence[told], hits)):
                losses.bins[m, :, k] = np.bincount(bins, weights[told] * factor, BINS)
        return losses

    def reliability(self) -> list[list[dict[str, Any]]]:
        """For each learner and bin the number of events, the mean confidence and the accuracy."""
        return [
            [
                {"events": count, "confidence": quotient(sure, weight), "accuracy": quotient(hits, weight)}
                for (weight, sure, hits), count in zip(bins, events, strict=True)
            ]
            for bins, events in zip(self.bins[:, 0].tolist(), self.events.tolist(), strict=True)
        ]


def quotient(part: float, total: float) -> float | None:
    """None where nothing was counted, or the sums of very large weights overflowed."""
    ratio = part / total if total > 0 else nan
    return ratio if isfinite(ratio) else None


@late_kernel
def calibrate(
    scores: NDArray[np.float64],
    predicted: NDArray[np.int32],
    lead: NDArray[np.int32],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    counted: int,
    growth: float,
    calibrated: NDArray[np.bool_],
    temperatures: NDArray[np.float64],
    sums: NDArray[np.float64],
    bins: NDArray[np.float64],
    events: NDArray[np.int64],
    scales: NDArray[np.float64],
    recent: NDArray[np.float64],
    confidences: NDArray[np.float64],
    margins: NDArray[np.float64],
) -> None:
    """Predict probabilities, count, then adjust the temperature: event by event, learner by learner.

    temperatures float64[L, 4]: see `temperature`. sums float64[L, 2, 3]: of w, w log loss, w Brier, over all time and
    fading. bins float64[L, 2, 10, 3]: likewise of w, w c, w h; events int64[L, 10]. scales float64[L]: the factor of
    new weights in the fading sums, which grows by `growth` with each event. recent float64[L, window, 3]: log loss,
    Brier and c (NaN: no confidence) of the last labelled events, a ring; `counted` labelled events came before. All
    changed in place. confidences float64[n], and margins if it is not empty: set.
    """
    powers, window = np.empty(scores.shape[2]), recent.shape[1]
    slot = counted % window if window > 0 else 0
    for i in range(labels.size):
        y, w = labels[i], weights[i]
        for m in range(scores.shape[0]):  # side by side, so that a slow exp of one does not stall the others
            s, winner = scores[m, i], predicted[m, i]
            if y < 0 and lead[i] != m:
                continue
            known = s.size
            while known > 0 and s[known - 1] == -np.inf:
                known -= 1
            spread, factor, confidence, squares, mean = 0.0, 1.0, np.nan, 0.0, 0.0
            if winner >= 0:
                spread = variance(s, s[winner], known)
                if not calibrated[m]:
                    factor = factor_of(temperatures[m], spread)
                if spread * factor * factor < np.inf:  # else the scores overflowed
                    confidence, squares, mean = powers_of(s, s[winner], known, factor, powers)
            if lead[i] == m:
                confidences[i] = confidence
                if margins.size > 0:
                    margins[i] = confidence * (1.0 - second_of(powers, winner, known)) if confidence > 0.0 else 0.0
            if y < 0:
                continue
            told = confidence > 0.0
            candidate = told and y < known
            share = powers[y] * confidence if candidate else 0.0
            log_loss, brier = -log(max(share, _SMALLEST)), 1.0 + squares - 2.0 * share
            add_event(w, log_loss, brier, confidence, winner == y, sums[m, 0], bins[m, 0])
            if told:
                events[m, bin_of(confidence)] += 1
            if window > 0:
                scales[m] *= growth
                if scales[m] > LARGE:
                    rescale(sums[m, 1], bins[m, 1], scales[m])
                    scales[m] = 1.0
                add_event(w * scales[m], log_loss, brier, confidence, winner == y, sums[m, 1], bins[m, 1])
                last = recent[m, slot]
                last[0], last[1], last[2] = log_loss, brier, confidence
            if candidate and known > 1 and not calibrated[m]:
                adjust(temperatures[m], w * (mean - factor * (s[y] - s[winner])), w, spread)
        if y >= 0 and window > 0:
            slot = slot + 1 if slot + 1 < window else 0


@kernel
def rescale(sums: NDArray[np.float64], bins: NDArray[np.float64], scale: float) -> None:
    """Divide the fading sums float64[3] and bins float64[10, 3] of a learner; see `curve.thin_out`."""
    for k in range(sums.size):
        sums[k] /= scale
        for b in range(bins.shape[0]):
            bins[b, k] /= scale


@kernel
def second_of(powers: NDArray[np.float64], winner: int, n: int) -> float:
    """The highest of the first n powers, without the winner's, which is 1; 0 if it is the only one."""
    second = 0.0
    for k in range(n):
        if k != winner and powers[k] > second:
            second = powers[k]
    return second


@kernel
def add_event(
    w: float,
    log_loss: float,
    brier: float,
    confidence: float,
    hit: bool,
    sums: NDArray[np.float64],
    bins: NDArray[np.float64],
) -> None:
    """Add an event of weight w to the sums float64[3] and bins float64[10, 3] of a learner; confidence NaN: no bin."""
    sums[0] += w
    sums[1] += w * log_loss
    sums[2] += w * brier
    if confidence > 0.0:
        own = bins[bin_of(confidence)]
        own[0] += w
        own[1] += w * confidence
        own[2] += w * hit


@kernel
def bin_of(confidence: float) -> int:
    """The bin of a confidence above 0."""
    return int(min(confidence * BINS, BINS - 1.0))
