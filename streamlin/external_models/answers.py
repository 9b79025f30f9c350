"""From what an external model says to scores."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from streamlin.events import LabelIndex
from streamlin.external_models.adapter import Answer

_IMPOSSIBLE = np.log(1e-15)
"""The score of a probability of 0, or less, to be below the others: -inf is that of a label that is no candidate."""


def scores_of(answer: Answer, labels: LabelIndex, known: int) -> NDArray[np.float64] | None:
    """float64[known]: the scores of the first `known` labels; None for an abstention.

    Of probabilities, their logarithms; of a label, 1, and 0 for the others. Labels that are not known are passed over,
    and where nothing is left, that is an abstention: no other label, none at all, or probabilities of 0.

    Raises
    ------
    ValueError, TypeError : a probability is no number, not finite, or negative.
    """
    if not isinstance(answer, Mapping):
        return _of_label(answer, labels, known)
    shares = np.zeros(known)
    for label, share in answer.items():
        number = float(share)
        if not 0.0 <= number < np.inf:
            raise ValueError(f"it gives {label!r:.60} the probability {number}")
        code = labels.code(label)
        if 0 <= code < known:
            shares[code] = number
    possible = shares > 0.0
    if not possible.any():
        return None
    scores = np.empty(known)
    scores[possible] = np.log(shares[possible])
    scores[~possible] = min(_IMPOSSIBLE, scores[possible].min() - 1.0)
    return scores


def _of_label(label: object, labels: LabelIndex, known: int) -> NDArray[np.float64] | None:
    if label != label:
        raise ValueError(f"it predicts {label}")
    code = labels.code(label)  # type: ignore[arg-type]  # what is no label has no code
    if not 0 <= code < known:
        return None
    scores = np.zeros(known)
    scores[code] = 1.0
    return scores
