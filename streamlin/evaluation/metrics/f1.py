"""The means of the labels' F1.

    macro F1      over the labels that are true or predicted anywhere, each counting the same
    weighted F1   over the labels, each counting as often as it is true

Van Rijsbergen, Information Retrieval (1979), chapter 7; F1 itself: `streamlin.evaluation.precision_recall`.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.precision_recall import f1_by_label, ratio
from streamlin.evaluation.spans import Sums


class MacroF1(Metric):
    """Each label counts the same."""

    name = "macro_f1"
    of_sums = True
    title = "macro F1"
    meaning = "Mean F1 of the labels."
    page = {"chosen": 60}
    prometheus = {"learners": "learner_macro_f1"}

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.by_label
        present = ((totals.labels > 0) | (totals.predicted > 0)).sum(axis=1)
        return ratio(f1_by_label(totals).sum(axis=1), present.astype(np.float64), np.nan)


class WeightedF1(Metric):
    """Each label counts as often as it is true."""

    name = "weighted_f1"
    of_sums = True
    title = "weighted F1"
    meaning = "Mean F1 of the labels, weighted by how often each is true."

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.by_label
        weighted = (f1_by_label(totals) * totals.labels).sum(axis=1)
        return ratio(weighted, np.broadcast_to(totals.labels.sum(), weighted.shape), np.nan)
