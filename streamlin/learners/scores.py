"""Labels and probabilities from scores."""

import numpy as np
from numpy.typing import NDArray


def best(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """int32[n], the code of the best scored label; ties go to the label seen first; -1 where all scores are -inf."""
    if scores.shape[1] == 0:
        return np.full(scores.shape[0], -1, np.int32)
    winners: NDArray[np.int32] = scores.argmax(axis=1).astype(np.int32)
    winners[np.isneginf(scores.max(axis=1))] = -1
    return winners


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[n, n_labels] probabilities from scores; each row needs one that is not -inf."""
    if scores.shape[1] == 0:
        return scores
    powers: NDArray[np.float64] = np.exp(scores - scores.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers
