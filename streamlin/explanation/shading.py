"""What each part of a text adds to a label's score: n-grams overlap, so that their parts are summed up."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.explanation.parts import centred
from streamlin.explanation.reasons import Reasons

LEVELS = 5
"""Shades in either direction."""


class Shade(NamedTuple):
    """`text[begin:end]` adds `weight` to the label's score, against the mean of all labels; level is -5 to 5, its share
    of the heaviest one's."""

    begin: int
    end: int
    weight: float
    level: int


def shades(reasons: Reasons, until: int) -> list[Shade]:
    """How the text speaks for and against the label predicted, from its beginning to the place `until`.

    Parts are words, characters where a view has n-grams of these; of several views' parts those that overlap are one.
    What is not in them (categories, n-grams not known) adds nothing.
    """
    if not reasons.labels:
        return []
    weights = centred(reasons.added)[:, reasons.ranked[0]]
    begins, ends, parts, first = [], [], [], 0
    for found in reasons.found:
        spans, last = found.ngrams.spans, first + found.known.size
        stands = spans[:, 0] < spans[:, 1]
        begins.append(spans[stands, 0])
        ends.append(spans[stands, 1])
        parts.append(found.shares(weights[first:last])[stands])
        first = last
    return _merged(np.concatenate(begins), np.concatenate(ends), np.concatenate(parts), until)


def _merged(begins: NDArray[np.int64], ends: NDArray[np.int64], parts: NDArray[np.float64], until: int) -> list[Shade]:
    """Spans that overlap become one; what they add is summed."""
    if not begins.size:
        return []
    order = np.argsort(begins, kind="stable")
    begins, ends, parts = begins[order], np.maximum.accumulate(ends[order]), parts[order]
    starts = np.flatnonzero(np.append(True, begins[1:] >= ends[:-1]))
    weights = np.add.reduceat(parts, starts)
    lasts = ends[np.append(starts[1:], begins.size) - 1]
    most = np.abs(weights).max() or 1.0
    levels = np.ceil(LEVELS * np.abs(weights) / most - 1e-9) * np.sign(weights)
    shown = int(np.searchsorted(begins[starts], until))
    columns = (begins[starts], lasts, weights, levels.astype(int))
    return [Shade(*row) for row in zip(*(column[:shown].tolist() for column in columns), strict=True)]
