"""From the predictions of an external model to scores."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from streamlin.events import LabelIndex
from streamlin.external_models.adapter import Answer

_IMPOSSIBLE = np.log(1e-15)
"""The score of a probability of 0, or less if the other scores are lower; -inf is for labels that are no candidates."""


class AnswerError(Exception):
    """An answer is no prediction; the text quotes no event."""


def scores_of(answer: Answer, labels: LabelIndex, known: int) -> NDArray[np.float64] | None:
    """The scores of the first `known` labels, float64[known]; None for an abstention.

    The scores of probabilities are their logarithms; those of a label are 1 for it and 0 for the others. Unknown labels
    are ignored. An answer that gives no known label a probability above 0 is an abstention.

    Raises
    ------
    AnswerError : a probability is not finite, or negative. ValueError, TypeError : it is not a number.
    """
    if not isinstance(answer, Mapping):
        return _of_label(answer, labels, known)
    shares = np.zeros(known)
    for label, share in answer.items():
        number = float(share)
        if not 0.0 <= number < np.inf:
            raise AnswerError(f"it gives {label!r:.60} the probability {number}")
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
        raise AnswerError(f"it predicts {label}")
    code = labels.code(label)  # type: ignore[arg-type]  # anything but a label has no code
    if not 0 <= code < known:
        return None
    scores = np.zeros(known)
    scores[code] = 1.0
    return scores
