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
    """

    predicted: NDArray[np.int32]
    lead: NDArray[np.int32]
    confidences: NDArray[np.float64]


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
