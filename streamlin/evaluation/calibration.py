"""Probabilities from scores, by a temperature learned online, and how good they are.

Guo et al., ICML 34 (2017) 1321-1330, for the temperature and the expected calibration error; Duchi et al., JMLR 12
(2011) 2121-2159, for the step, its sum made to fade; Brier, Monthly Weather Review 78 (1950) 1-3.
"""

from collections.abc import Sequence
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.measure import Measure
from streamlin.evaluation.temperature import adjust, factor_of, powers_of, variance
from streamlin.kernel import kernel

BINS = 10
_SMALLEST = 1e-15
"""The probability under which the log loss falls no further."""


class Calibration(Measure):
    """Probabilities of L learners, each made before the label is seen, then measured by it; `temperature` says how.

    For weight w, label y, probabilities p of an event, and its top label's, which is the confidence c::

        log loss   sum w (-log max(p_y, 1e-15)) / sum w
        Brier      sum w sum_k (p_k - [k = y])^2 / sum w
        ECE        sum_b |sum_b w c - sum_b w h| / sum w,   h = 1 for a hit, over 10 bins b, c in [b/10, (b+1)/10)

    A label that is no candidate has p_y = 0. An abstention, and scores that overflowed, say 0 of every label: Brier 1;
    they have no confidence and are in no bin, nor in ECE's sum of w.

    Parameters
    ----------
    calibrated : bool for each of L; True: its scores' softmax is its probabilities, without a temperature.
    """

    arrays = ("temperatures", "sums", "bins", "events")

    def __init__(self, calibrated: Sequence[bool]) -> None:
        self.calibrated = np.array(calibrated, np.bool_)
        n = len(calibrated)
        self.temperatures = np.zeros((n, 4))
        self.sums = np.zeros((n, 3))
        self.bins = np.zeros((n, BINS, 3))
        self.events = np.zeros((n, BINS), np.int64)

    def update(
        self,
        scores: NDArray[np.float64],
        predicted: NDArray[np.int32],
        lead: NDArray[np.int32],
        labels: NDArray[np.int32],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Measure, then learn from, a batch of n events; what has no label changes nothing.

        scores float64[L, n, n_labels]: -inf behind the candidates. predicted int32[L, n]: their best, -1 for an
        abstention. lead int32[n]: a learner. labels int32[n]: -1 where nothing is to be counted.
        Returns float64[n]: the lead's confidences, above 0 to 1; NaN for an abstention and scores that overflowed.
        """
        confidences = np.empty(labels.size)
        calibrate(
            scores,
            predicted,
            lead,
            labels,
            weights,
            self.calibrated,
            self.temperatures,
            self.sums,
            self.bins,
            self.events,
            confidences,
        )
        return confidences

    def probabilities(self, learner: int, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, n_labels] of one learner's scores, likewise; 0 where there is none to give."""
        shares, state = np.zeros(scores.shape), self.temperatures[learner]
        for s, powers in zip(scores, shares, strict=True):
            known = int((s > -np.inf).sum())
            top = s.max(initial=-np.inf)
            spread = variance(s, top, known) if known and top < np.inf else nan
            factor = 1.0 if self.calibrated[learner] else factor_of(state, spread)
            if spread * factor * factor < np.inf:  # else there is no candidate, or they overflowed
                powers[:known] *= powers_of(s, top, known, factor, powers)[0]
        return shares

    def losses(self) -> list[dict[str, Any]]:
        """For each learner its losses and ECE; None where nothing was labelled."""
        return [
            {
                "log_loss": _ratio(log_loss, total),
                "brier": _ratio(brier, total),
                "ece": _ratio(sum(abs(sure - hits) for _, sure, hits in bins), sum(weight for weight, _, _ in bins)),
            }
            for (total, log_loss, brier), bins in zip(self.sums.tolist(), self.bins.tolist(), strict=True)
        ]

    def reliability(self) -> list[list[dict[str, Any]]]:
        """For each learner, and each bin, how many events it has, how sure it was and how often right."""
        return [
            [
                {"events": count, "confidence": _ratio(sure, weight), "accuracy": _ratio(hits, weight)}
                for (weight, sure, hits), count in zip(bins, events, strict=True)
            ]
            for bins, events in zip(self.bins.tolist(), self.events.tolist(), strict=True)
        ]


def _ratio(part: float, total: float) -> float | None:
    """None where there is nothing, or no number: weights may be so large that sums of them overflow."""
    ratio = part / total if total > 0 else nan
    return ratio if isfinite(ratio) else None


@kernel
def calibrate(
    scores: NDArray[np.float64],
    predicted: NDArray[np.int32],
    lead: NDArray[np.int32],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    calibrated: NDArray[np.bool_],
    temperatures: NDArray[np.float64],
    sums: NDArray[np.float64],
    bins: NDArray[np.float64],
    events: NDArray[np.int64],
    confidences: NDArray[np.float64],
) -> None:
    """Probabilities, then the label, then the temperature: learner by learner, event by event.

    temperatures float64[L, 4]: as `temperature` has them. sums float64[L, 3]: of w, w log loss, w Brier. bins
    float64[L, 10, 3]: of w, w c, w h; events int64[L, 10]. All changed in place. confidences float64[n]: set.
    """
    powers = np.empty(scores.shape[2])
    for m in range(scores.shape[0]):
        for i in range(labels.size):
            y, s, winner = labels[i], scores[m, i], predicted[m, i]
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
                if spread * factor * factor < np.inf:  # else they overflowed
                    confidence, squares, mean = powers_of(s, s[winner], known, factor, powers)
            if lead[i] == m:
                confidences[i] = confidence
            if y < 0:
                continue
            told = confidence > 0.0
            candidate = told and y < known
            share = powers[y] * confidence if candidate else 0.0
            w = weights[i]
            sums[m, 0] += w
            sums[m, 1] -= w * np.log(max(share, _SMALLEST))
            sums[m, 2] += w * (1.0 + squares - 2.0 * share)
            if told:
                b = min(int(confidence * BINS), BINS - 1)
                events[m, b] += 1
                bins[m, b, 0] += w
                bins[m, b, 1] += w * confidence
                bins[m, b, 2] += w * (winner == y)
            if candidate and known > 1 and not calibrated[m]:
                adjust(temperatures[m], w * (mean - factor * (s[y] - s[winner])), w, spread)
