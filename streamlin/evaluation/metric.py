"""What a metric declares: how it is computed, and how reports, tables, the page and Prometheus show it."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.spans import PREFIXES, Span, Sums

Format = Literal["percent", "ratio", "count", "probability", "interval"]
"""98.62 %; 0.986; 1,234; a p-value, as 0.031 or < 0.001; two shares, as 98.28 – 98.90."""
Group = Literal["learners", "baselines"]
"""Of predictors; references are among the baselines."""


class Metric(ArrayState):
    """A number for each predictor, computed when a report is made.

    Most metrics are computed from `Sums`, which are counted anyway. A metric that needs something else keeps it in
    arrays of its own, names these in `arrays` and counts in `update`; a checkpoint holds them.

    name : key in the report; `window_` and `fading_` stand before it for these spans.
    title : heading of its column, short.
    meaning : one sentence for people; Prometheus' help text, and the hint on the page's heading.
    format : how its values are written.
    smaller_is_better : of losses, for example.
    of_sums : it is computed from sums of weights alone, and so also from those of the labels that were asked for.
    spans : those it is computed over.
    lean_spans : those of them that `evaluation.metrics = "accuracy"` leaves.
    terminal : the spans that the terminal's table shows, each with its rank: columns stand in the order of ranks.
    page : likewise for the page; the key "chosen" is one column whose span the reader chooses.
    prometheus : name of the Prometheus metric, without `streamlin_`, for each group of predictors that exports it. A
        count is exported as a counter, anything else as a gauge with the label `span`.
    """

    arrays = ()
    name: ClassVar[str]
    title: ClassVar[str]
    meaning: ClassVar[str]
    format: ClassVar[Format] = "ratio"
    smaller_is_better: ClassVar[bool] = False
    of_sums: ClassVar[bool] = False
    spans: ClassVar[tuple[Span, ...]] = ("running", "window", "fading")
    lean_spans: ClassVar[tuple[Span, ...]] = ()
    terminal: ClassVar[Mapping[Span, int]] = {}
    page: ClassVar[Mapping[Span | Literal["chosen"], int]] = {}
    prometheus: ClassVar[Mapping[Group, str]] = {}

    def __init__(self, predictors: int, config: EvaluationConfig) -> None:
        """For M predictors; only a metric with arrays of its own needs a constructor."""

    def update(
        self, predicted: NDArray[np.int32], labels: NDArray[np.int32], weights: NDArray[np.float64], n_labels: int
    ) -> None:
        """Count a batch of n events; called only if `arrays` names any.

        predicted int32[M, n]: label codes, -1 for an abstention, -2 for a label that was not seen yet. labels int32[n]:
        -1 where nothing is to be counted. weights float64[n]. n_labels: labels seen so far.
        """

    def compute(self, sums: Sums) -> NDArray[Any] | Sequence[Any]:
        """The values over one span: of all M predictors, or of the L learners alone.

        NaN or None where nothing was counted.
        """
        raise NotImplementedError

    @classmethod
    def key(cls, span: Span) -> str:
        """In the report."""
        return PREFIXES[span] + cls.name

    @classmethod
    def heading(cls, span: Span | Literal["chosen"], window: int) -> str:
        """Of its column for a span."""
        return cls.title if span in ("running", "chosen") else f"{cls.title}, {span_title(span, window)}"


def span_title(span: str, window: int) -> str:
    """What people read for a span."""
    return {"window": f"last {window:,}", "fading": "fading"}.get(span, "since the start")
