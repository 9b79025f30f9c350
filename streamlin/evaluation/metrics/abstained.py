"""Abstentions: labelled events without a prediction, counted as wrong."""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.spans import Sums


class Abstained(Metric):
    """Events, weights aside."""

    name = "abstained"
    title = "abstained"
    meaning = "Labelled events without a prediction, counted as wrong."
    format = "count"
    smaller_is_better = True
    spans = lean_spans = ("running",)
    page = {"running": 100}
    prometheus = {"learners": "learner_abstentions", "baselines": "baseline_abstentions"}

    def compute(self, sums: Sums) -> NDArray[np.int64]:
        return sums.abstained
