"""Metrics of parsers alone, all by weight, over trees: what `TreeTally` sums up.

Precision, recall and F1 of brackets are those of spans; the baseline has no brackets.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics.sentences import SentencesRight, SpanF1, SpanPrecision, SpanRecall
from streamlin.evaluation.precision_recall import ratio
from streamlin.evaluation.sentence_tally import SENTENCES
from streamlin.evaluation.spans import Sums
from streamlin.evaluation.tree_tally import COVERED


class _OfParsers(Metric):
    """Of the learners alone."""

    def compute(self, sums: Sums) -> NDArray[Any]:
        return np.asarray(super().compute(sums))[: sums.n_learners]


class BracketF1(_OfParsers, SpanF1):
    """As evalb counts brackets."""

    prometheus = {}  # exported as that of spans, by the same key


class BracketPrecision(_OfParsers, SpanPrecision):
    """Of the brackets that were predicted."""


class BracketRecall(_OfParsers, SpanRecall):
    """Of the true brackets."""


class ExactTrees(_OfParsers, SentencesRight):
    """Trees with all brackets right and no others."""

    prometheus = {}  # exported as that of sentences, by the same key


class Covered(Metric):
    """Of sentences that were to be parsed."""

    name = "covered"
    title = "covered"
    meaning = "Share of sentences of which the grammar has a tree."
    format = "percent"
    lean_spans = Metric.spans
    terminal = {"running": 46}
    page = {"chosen": 48}
    prometheus = {"learners": "learner_covered_ratio"}

    def compute(self, sums: Sums) -> NDArray[Any]:
        totals = sums.sentences
        return ratio(totals.own[: sums.n_learners, COVERED], totals.shared[SENTENCES], np.nan)
