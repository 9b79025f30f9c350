"""Accuracy, the interval it lies in, and the count of hits behind it.

For hit h (1 or 0) and weight w of a labelled event::

    accuracy   sum w h / sum w
    correct    sum h
    interval   Wilson's, of `correct` among all labelled events

Gama, Sebastião, Rodrigues, Machine Learning 90 (2013) 317-346, for the window and the fading factor.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.metric import Metric, span_title
from streamlin.evaluation.spans import Span, Sums
from streamlin.evaluation.wilson import wilson


class Accuracy(Metric):
    """By weight; an abstention is wrong."""

    name = "accuracy"
    title = "accuracy"
    meaning = "Share of labelled events predicted right before they were learned: of all, of the last ones, fading."
    format = "percent"
    lean_spans = Metric.spans
    terminal = {"running": 10, "window": 30, "fading": 40}
    page = {"running": 10, "window": 20, "fading": 40}
    prometheus = {"learners": "learner_accuracy_ratio", "baselines": "baseline_accuracy_ratio"}

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        return sums.accuracy

    @classmethod
    def heading(cls, span: Span | Literal["chosen"], window: int) -> str:
        """The span alone: the other columns of accuracy stand beside it."""
        return cls.title if span == "running" else span_title(span, window)


class AccuracyInterval(Metric):
    """Events, weights aside; where metrics stand for all events by a sample, as many as tell as much."""

    name = "interval"
    title = "95 % interval"
    meaning = "Where the true accuracy lies, with a confidence of 95 %."
    format = "interval"
    spans = lean_spans = ("running",)
    terminal = {"running": 20}
    page = {"running": 30}

    def compute(self, sums: Sums) -> list[tuple[float, float] | None]:
        correct, n = sums.hits
        return [wilson(hits, n) for hits in correct.tolist()]


class Correct(Metric):
    """Events, weights aside."""

    name = "correct"
    title = "correct"
    meaning = "Labelled events that were predicted right."
    format = "count"
    spans = lean_spans = ("running",)

    def compute(self, sums: Sums) -> NDArray[np.int64]:
        return sums.correct
