"""From scores to predictions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel.late import beside, late_kernel


class Predictions(NamedTuple):
    """The predictions of a batch of n events, each made before its label was seen.

    predicted : int32[L, n], each learner's label code; -1 for an abstention.
    lead : int32[n], the learner whose prediction is given out.
    confidences : float64[n], the lead's, calibrated; NaN for an abstention and for overflowed scores.
    baselines : int32[2, n], those of the baselines; -1 where they made none.
    measures : float64[k, n], the measures of each event that are asked for, NaN for none; see `measure_names`.
    asked : whose labels are asked for; None where none are.
    """

    predicted: NDArray[np.int32]
    lead: NDArray[np.int32]
    confidences: NDArray[np.float64]
    baselines: NDArray[np.int32]
    measures: NDArray[np.float64]
    asked: "Asked | None" = None

    def take(self, rows: NDArray[np.int64]) -> "Predictions":
        """The predictions of some of the events."""
        asked = None if self.asked is None else self.asked.take(rows)
        columns = self.predicted[:, rows], self.lead[rows], self.confidences[rows], self.baselines[:, rows]
        return Predictions(*columns, self.measures[:, rows], asked)


class Asked(NamedTuple):
    """Whether the label of each of n events is asked for.

    reasons : int8[n], why, see `streamlin.asking.decisions`; 0 where it is not.
    probabilities : float64[n], that of asking; 0 for events whose label can't be asked for.
    """

    reasons: NDArray[np.int8]
    probabilities: NDArray[np.float64]

    def take(self, rows: NDArray[np.int64]) -> "Asked":
        """The same of some of the events."""
        return Asked(self.reasons[rows], self.probabilities[rows])


class Earlier(NamedTuple):
    """Rows of a batch whose prediction was made earlier, of the same text.

    here, asked : int64[a], rows whose prediction is that of the rows `asked` of the same batch.
    before : int64[b], rows predicted in an earlier batch. baselines : int32[2, b], their baselines' predictions.
    """

    here: NDArray[np.int64]
    asked: NDArray[np.int64]
    before: NDArray[np.int64]
    baselines: NDArray[np.int32]


def _predict(scores: NDArray[np.float64], predicted: NDArray[np.int32]) -> None:
    """As `predict`."""
    if scores.shape[2] == 0:
        predicted[:] = -1
        return
    numbers = np.where(np.isnan(scores), -np.inf, scores)
    predicted[:] = np.where(numbers.max(axis=2) > -np.inf, numbers.argmax(axis=2), -1)


@late_kernel
@beside(_predict)
def predict(
    scores: NDArray[np.float64],
    predicted: NDArray[np.int32],
) -> None:
    """Set predicted int32[L, n] to the best scored label; ties go to the label seen first; -1: no candidate.

    scores float64[L, n, n_labels], -inf where a label is no candidate.
    """
    for m in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            top, winner = -np.inf, -1
            for k in range(scores.shape[2]):
                if scores[m, i, k] > top:
                    top, winner = scores[m, i, k], k
            predicted[m, i] = winner
