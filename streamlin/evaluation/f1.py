"""Precision, recall and F1 of each label, and their means.

Van Rijsbergen, Information Retrieval (1979), chapter 7. For a label k, by weight::

    precision   hits_k / predicted_k
    recall      hits_k / true_k
    F1          2 hits_k / (true_k + predicted_k)          all 0 where the denominator is

    macro F1      the mean over the labels that are true or predicted anywhere
    weighted F1   the mean by how often each is true
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.label_sums import Totals


class ByLabel(NamedTuple):
    """float64[M, K] each."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]


def by_label(totals: Totals) -> ByLabel:
    """Of M predictors and K labels."""
    labels, predicted, hits = totals
    return ByLabel(_ratio(hits, predicted), _ratio(hits, labels), _ratio(2.0 * hits, labels + predicted))


def mean_f1(totals: Totals) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Macro and weighted F1, float64[M] each; NaN where nothing was counted."""
    f1 = by_label(totals).f1
    there = ((totals.labels > 0) | (totals.predicted > 0)).sum(axis=1)
    macro = _ratio(f1.sum(axis=1), there.astype(np.float64), np.nan)
    return macro, _ratio((f1 * totals.labels).sum(axis=1), np.broadcast_to(totals.labels.sum(), macro.shape), np.nan)


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64], empty: float = 0.0) -> NDArray[np.float64]:
    whole = np.broadcast_to(whole, part.shape)
    ratio: NDArray[np.float64] = np.divide(part, whole, out=np.full(part.shape, empty), where=whole > 0)
    return ratio
