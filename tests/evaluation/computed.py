"""Metrics computed from sums that a test has counted."""

from collections.abc import Iterable
from typing import Any

from streamlin.config import EvaluationConfig
from streamlin.evaluation.calibration import Calibration
from streamlin.evaluation.json_values import json_values
from streamlin.evaluation.label_sums import LabelSums
from streamlin.evaluation.metric import Metric
from streamlin.evaluation.pairs import Pairs
from streamlin.evaluation.spans import PREFIXES, Span, Sums
from streamlin.evaluation.tally import Tally


def sums_of(
    tally: Tally,
    n_learners: int,
    label_sums: LabelSums | None = None,
    pairs: Pairs | None = None,
    calibration: Calibration | None = None,
) -> dict[Span, Sums]:
    """Over each span; what a test does not count stays empty."""
    n = tally.correct.size
    label_sums, pairs = label_sums or LabelSums(n), pairs or Pairs(n)
    calibration = calibration or Calibration([False] * n_learners)
    return {span: Sums(span, tally, label_sums, pairs, calibration, n_learners) for span in PREFIXES}


def computed(metrics: Iterable[type[Metric]], sums: dict[Span, Sums], lean: bool = False) -> list[dict[str, Any]]:
    """For each predictor that the metrics are of, the values by key; `lean`: over their lean spans alone."""
    columns = {
        metric.key(span): json_values(metric(0, EvaluationConfig()).compute(sums[span]))
        for span in PREFIXES
        for metric in metrics
        if span in (metric.lean_spans if lean else metric.spans)
    }
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
