"""The metrics of a report.

A new metric is a file in this folder and its class in `METRICS`; reports, tables, the page and Prometheus show it as it
declares.
"""

from typing import Literal, NamedTuple

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics.abstained import Abstained
from streamlin.evaluation.metrics.accuracy import Accuracy, AccuracyInterval, Correct
from streamlin.evaluation.metrics.f1 import MacroF1, WeightedF1
from streamlin.evaluation.metrics.kappa import Kappa, KappaM, KappaTemporal
from streamlin.evaluation.metrics.leader_p import LeaderP
from streamlin.evaluation.metrics.losses import Brier, CalibrationError, LogLoss
from streamlin.evaluation.metrics.raw_accuracy import RawAccuracy
from streamlin.evaluation.metrics.sentences import (
    KnownAccuracy,
    SentenceInterval,
    SentencesRight,
    SpanF1,
    SpanPrecision,
    SpanRecall,
    UnknownAccuracy,
)
from streamlin.evaluation.metrics.topics import ClusterCount, MeanSimilarity, MutualInformation, NewTexts, Purity
from streamlin.evaluation.metrics.trees import BracketF1, BracketPrecision, BracketRecall, Covered, ExactTrees
from streamlin.evaluation.spans import Span

METRICS: tuple[tuple[type[Metric], ...], ...] = (
    (Accuracy, AccuracyInterval, Correct),
    (RawAccuracy,),
    (Abstained,),
    (Kappa, KappaM, KappaTemporal, MacroF1, WeightedF1),
    (LeaderP,),
    (LogLoss, Brier, CalibrationError),
)
"""In the order of the report; those of a group stand together, span by span."""
TAGGING: tuple[tuple[type[Metric], ...], ...] = (
    (Accuracy, SentenceInterval, Correct),
    (Abstained,),
    (SentencesRight, SpanF1, SpanPrecision, SpanRecall, KnownAccuracy, UnknownAccuracy),
    (Kappa, MacroF1, WeightedF1),
    (LeaderP,),
)
"""Those of taggers, likewise."""
PARSING: tuple[tuple[type[Metric], ...], ...] = (
    (BracketF1, BracketPrecision, BracketRecall, ExactTrees, Covered),
    (Accuracy, SentenceInterval, Correct),
    (Abstained,),
    (KnownAccuracy, UnknownAccuracy),
    (Kappa, MacroF1, WeightedF1),
    (LeaderP,),
)
"""Those of parsers, likewise."""


TOPICS: tuple[tuple[type[Metric], ...], ...] = (
    (ClusterCount,),
    (NewTexts, MeanSimilarity),
    (MutualInformation, Purity),
)
"""Those of clusterers, likewise."""


class Column(NamedTuple):
    """A column of a table: a metric over a span; "chosen": the reader chooses it."""

    metric: type[Metric]
    span: Span | Literal["chosen"]


def all_metrics() -> list[type[Metric]]:
    """In the order of the report, those of other tasks alone last."""
    tasks = (METRICS, PARSING, TAGGING, TOPICS)
    return list(dict.fromkeys(metric for groups in tasks for group in groups for metric in group))


def terminal_columns() -> list[tuple[type[Metric], Span]]:
    """The columns of the terminal's table, from left to right."""
    ranked = {
        metric.key(span): (rank, metric, span) for metric in all_metrics() for span, rank in metric.terminal.items()
    }
    return [(metric, span) for _, metric, span in sorted(ranked.values(), key=lambda entry: entry[0])]


def page_columns() -> list[Column]:
    """The columns of the page's table, from left to right."""
    ranked = {
        (metric.name, span): (rank, Column(metric, span))
        for metric in all_metrics()
        for span, rank in metric.page.items()
    }
    return [column for _, column in sorted(ranked.values(), key=lambda entry: entry[0])]
