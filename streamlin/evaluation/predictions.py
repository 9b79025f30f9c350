"""From scores to predictions and confidences."""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel


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


@kernel
def fill_confidences(
    scores: NDArray[np.float64],
    predicted: NDArray[np.int32],
    lead: NDArray[np.int32],
    confidences: NDArray[np.float64],
) -> None:
    """Set confidences float64[n] to the softmax of the lead's scores at its prediction; NaN for an abstention."""
    for i in range(lead.size):
        s = scores[lead[i], i]
        winner = predicted[lead[i], i]
        if winner < 0:
            confidences[i] = np.nan
            continue
        total = 0.0
        for k in range(s.size):
            total += np.exp(s[k] - s[winner])
        confidences[i] = 1.0 / total


def confidences(
    scores: NDArray[np.float64], predicted: NDArray[np.int32], lead: NDArray[np.int32]
) -> NDArray[np.float64]:
    """float64[n] in (0, 1], of the lead's prediction for each event; NaN for an abstention."""
    result = np.empty(lead.size)
    fill_confidences(scores, predicted, lead, result)
    return result
