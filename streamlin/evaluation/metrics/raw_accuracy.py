"""Accuracy on the labels as they came, where only a sample of the events gets some.

For hit h and the event's own weight w, whatever the probability that its label was asked for::

    raw_accuracy   sum w h / sum w
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.sampled_sums import SampledSums
from streamlin.evaluation.spans import Sums


class RawAccuracy(Metric):
    """Only where labels are asked for."""

    name = "raw_accuracy"
    title = "unweighted"
    meaning = "Share of labels predicted right: of those that came, which were asked for where it is uncertain."
    format = "percent"
    lean_spans = Metric.spans
    terminal = {"running": 15}
    page = {"running": 35}

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        assert isinstance(sums, SampledSums)
        return sums.raw.accuracy
