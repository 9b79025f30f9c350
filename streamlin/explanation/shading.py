"""The contribution of each part of a text to a label's score, summed over the n-grams that overlap it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.explanation.decomposition import centred
from streamlin.explanation.reasons import Reasons

LEVELS = 5
"""The number of shades in either direction."""


class Shade(NamedTuple):
    """`text[begin:end]` contributes `weight` to the label's score, less the mean over all labels.

    level : -5 to 5, the weight relative to the heaviest one.
    """

    begin: int
    end: int
    weight: float
    level: int


def shades(reasons: Reasons, until: int) -> list[Shade]:
    """How the parts of the text that begin before `until` speak for and against the predicted label.

    Parts are words, or characters where a view has n-grams of characters; parts of several views that overlap are
    merged. Categories and unknown n-grams are not included.
    """
    if not reasons.labels:
        return []
    weights = centred(reasons.added)[:, reasons.ranked[0]]
    begins, ends, parts, first = [], [], [], 0
    for view in reasons.views:
        spans, last = view.ngrams.spans, first + view.known.size
        in_text = spans[:, 0] < spans[:, 1]
        begins.append(spans[in_text, 0])
        ends.append(spans[in_text, 1])
        parts.append(view.shares(weights[first:last])[in_text])
        first = last
    return _merged(np.concatenate(begins), np.concatenate(ends), np.concatenate(parts), until)


def _merged(begins: NDArray[np.int64], ends: NDArray[np.int64], parts: NDArray[np.float64], until: int) -> list[Shade]:
    """Merge spans that overlap and sum their contributions."""
    if not begins.size:
        return []
    order = np.argsort(begins, kind="stable")
    begins, ends, parts = begins[order], np.maximum.accumulate(ends[order]), parts[order]
    starts = np.flatnonzero(np.append(True, begins[1:] >= ends[:-1]))
    weights = np.add.reduceat(parts, starts)
    lasts = ends[np.append(starts[1:], begins.size) - 1]
    most = np.abs(weights).max() or 1.0
    levels = np.ceil(LEVELS * np.abs(weights) / most - 1e-9) * np.sign(weights)
    n_shown = int(np.searchsorted(begins[starts], until))
    columns = (begins[starts], lasts, weights, levels.astype(int))
    return [Shade(*row) for row in zip(*(column[:n_shown].tolist() for column in columns), strict=True)]
