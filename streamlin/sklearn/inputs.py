"""What scikit-learn's users hand over: texts, labels, weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from streamlin.errors import RecordError
from streamlin.learners.targets import checked_weights


def as_texts(X: Any) -> list[str] | None:
    """X as a list, if it is a sequence that begins with a text; None: it is something else.

    Raises
    ------
    ValueError : it is one text, or empty, or something in it is no text.
    """
    if isinstance(X, str):
        raise ValueError("X must be a sequence of texts, got a single one")
    if getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__"):
        return None
    if len(X) == 0:
        raise ValueError("X has 0 sample(s), at least one is required")
    texts = X if isinstance(X, list) else list(X)
    if not isinstance(texts[0], str):
        return None
    odd = [i for i, text in enumerate(texts) if not isinstance(text, str)]
    if odd:
        raise ValueError(f"X begins with a text, so that all must be texts, but X[{odd[0]}] is {texts[odd[0]]!r:.80}")
    return texts


def checked_labels(y: Any, n: int) -> NDArray[Any]:
    """y as an array [n].

    Raises
    ------
    ValueError : there is none, it has another shape or another length.
    """
    if y is None:
        raise ValueError("a classifier requires y to be passed, but the target y is None")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if labels.size != n:
        raise ValueError(f"X has {n} samples and y has {labels.size}")
    return labels


def sample_weights(given: Any, n: int) -> NDArray[np.float64]:
    """float64[n]; 1 each where none are given, and one number stands for all.

    Raises
    ------
    ValueError : there are not as many; one is negative or not finite.
    """
    weights = np.array(1.0 if given is None else given, np.float64)
    if weights.shape not in ((), (n,)):
        raise ValueError(f"sample_weight must be of shape ({n},), got {weights.shape}")
    try:
        return checked_weights(np.broadcast_to(weights, n))
    except RecordError as error:
        raise ValueError(f"sample_weight: {error}") from None
