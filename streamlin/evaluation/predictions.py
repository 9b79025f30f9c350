"""From scores to predictions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel


class Predictions(NamedTuple):
    """What was predicted for a batch of n events, each before its label was seen.

    predicted : int32[L, n], each learner's label code; -1 for an abstention.
    lead : int32[n], the learner whose prediction is given out.
    confidences : float64[n], the lead's, calibrated; NaN for an abstention and for scores that overflowed.
    baselines : int32[2, n], of those that read no text; -1 where nothing was asked of them.
    """

    predicted: NDArray[np.int32]
    lead: NDArray[np.int32]
    confidences: NDArray[np.float64]
    baselines: NDArray[np.int32]

    def take(self, rows: NDArray[np.int64]) -> "Predictions":
        """Those of some of the events."""
        return Predictions(self.predicted[:, rows], self.lead[rows], self.confidences[rows], self.baselines[:, rows])


class Earlier(NamedTuple):
    """Rows of a batch whose predictions are those that were made of the same text before.

    here, asked : int64[a], in the same batch, by the rows `asked`.
    before : int64[b], before it. baselines : int32[2, b], see `Predictions`.
    """

    here: NDArray[np.int64]
    asked: NDArray[np.int64]
    before: NDArray[np.int64]
    baselines: NDArray[np.int32]


@kernel
def predict(
    scores: NDArray[np.float64],
    predicted: NDArray[np.int32],
) -> None:
    """Set predicted int32[L, n] to the best scored label; ties go to the label seen first, -1: no candidate.

    scores float64[L, n, n_labels], -inf where a label is no candidate.
    """
    for m in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            top, winner = -np.inf, -1
            for k in range(scores.shape[2]):
                if scores[m, i, k] > top:
                    top, winner = scores[m, i, k], k
            predicted[m, i] = winner
