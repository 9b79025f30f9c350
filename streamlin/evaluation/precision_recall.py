"""Precision, recall and F1 of each label.

Van Rijsbergen, Information Retrieval (1979), chapter 7. For a label k, by weight::

    precision   hits_k / predicted_k
    recall      hits_k / true_k
    F1          2 hits_k / (true_k + predicted_k)          each 0 where its denominator is 0
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.label_sums import Totals


class ByLabel(NamedTuple):
    """float64[M, K] each, of M predictors and K labels."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]


def by_label(totals: Totals) -> ByLabel:
    """All three."""
    labels, predicted, hits = totals
    return ByLabel(ratio(hits, predicted), ratio(hits, labels), f1_by_label(totals))


def f1_by_label(totals: Totals) -> NDArray[np.float64]:
    """float64[M, K]."""
    return ratio(2.0 * totals.hits, totals.labels + totals.predicted)


def ratio(part: NDArray[np.float64], whole: NDArray[np.float64] | float, empty: float = 0.0) -> NDArray[np.float64]:
    """part / whole, broadcast to the shape of `part`; `empty` where the whole is not above 0."""
    whole = np.broadcast_to(whole, part.shape)
    quotient: NDArray[np.float64] = np.divide(part, whole, out=np.full(part.shape, empty), where=whole > 0)
    return quotient
