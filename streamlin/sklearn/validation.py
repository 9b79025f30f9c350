"""Validation of texts, labels and weights as scikit-learn's users pass them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from streamlin.errors import RecordError
from streamlin.learners.targets import checked_weights


def as_texts(X: Any) -> list[str] | None:
    """X as a list if it is a sequence that begins with a text, else None.

    Raises
    ------
    ValueError : X is a single text or is empty, or an element is not a text.
    """
    if isinstance(X, str):
        raise ValueError("X must be a sequence of texts, got a single text")
    if getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__"):
        return None
    if len(X) == 0:
        raise ValueError("X has 0 sample(s), at least one is required")
    texts = X if isinstance(X, list) else list(X)
    if not isinstance(texts[0], str):
        return None
    odd = [i for i, text in enumerate(texts) if not isinstance(text, str)]
    if odd:
        raise ValueError(f"X begins with a text, so all must be texts, but X[{odd[0]}] is {texts[odd[0]]!r:.80}")
    return texts


def checked_labels(y: Any, n: int) -> NDArray[Any]:
    """y as an array [n].

    Raises
    ------
    ValueError : y is None, or has another shape or length.
    """
    if y is None:
        raise ValueError("a classifier requires y to be passed, but the target y is None")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if labels.size != n:
        raise ValueError(f"X has {n} samples and y has {labels.size}")
    return labels


def sample_weights(given: Any, n: int) -> NDArray[np.float64]:
    """float64[n]; None gives 1 each, one number the same for all.

    Raises
    ------
    ValueError : the length is not n, or a weight is negative, not finite or above `streamlin.events.MAX_WEIGHT`.
    """
    weights = np.array(1.0 if given is None else given, np.float64)
    if weights.shape not in ((), (n,)):
        raise ValueError(f"sample_weight must be of shape ({n},), got {weights.shape}")
    try:
        return checked_weights(np.broadcast_to(weights, n))
    except RecordError as error:
        raise ValueError(f"sample_weight: {error}") from None
