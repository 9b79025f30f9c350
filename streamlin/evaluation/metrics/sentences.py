"""Metrics of taggers, all by weight, over sentences: what `SentenceTotals` sums up.

    interval         a ± z s, s^2 = sum_i (h_i - a n_i)^2 / (sum_i n_i)^2; h_i of sentence i's n_i tokens are right
    sentences right  those with all tags right, of those whose tags are all known
    span F1          2 R / (P + T), for R spans right of P predicted and T true ones; `streamlin.evaluation.tag_spans`
    known, unknown   token accuracy where the word was, and was not, in a sentence that was learned before

Cochran, Sampling Techniques (1977), section 2.11, for the variance of a ratio of sums over clusters.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics.accuracy import AccuracyInterval
from streamlin.evaluation.precision_recall import ratio
from streamlin.evaluation.sentence_tally import (
    HITS,
    KNOWN,
    KNOWN_HITS,
    PREDICTED_SPANS,
    RIGHT,
    RIGHT_SPANS,
    SENTENCES,
    SPANS,
    TOKENS,
)
from streamlin.evaluation.spans import Sums
from streamlin.evaluation.wilson import Z_95


class SentenceInterval(AccuracyInterval):
    """Tokens of one sentence are not independent, so sentences are the unit; weights aside."""

    def compute(self, sums: Sums) -> list[tuple[float, float] | None]:
        tally = sums.sentence_tally
        tokens = int(tally.count[1])
        if not tokens:
            return [None] * tally.correct.size
        found: list[tuple[float, float] | None] = []
        for correct, (hits, products, lengths) in zip(tally.correct.tolist(), tally.squares.tolist(), strict=True):
            share = correct / tokens
            margin = Z_95 * sqrt(max(hits - 2 * share * products + share * share * lengths, 0.0)) / tokens
            found.append((max(share - margin, 0.0), min(share + margin, 1.0)))
        return found


class SentencesRight(Metric):
    """Of sentences whose tags are all known."""

    name = "sentences_right"
    title = "sentences"
    meaning = "Share of sentences with all tags, or all brackets, right."
    format = "percent"
    lean_spans = Metric.spans
    terminal = {"running": 45}
    page = {"chosen": 45}
    prometheus = {"learners": "learner_sentences_right_ratio", "baselines": "baseline_sentences_right_ratio"}

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.sentences
        return ratio(totals.own[:, RIGHT], totals.shared[SENTENCES], np.nan)


class SpanF1(Metric):
    """Only where tags mark spans, as conlleval counts them."""

    name = "f1"
    title = "F1"
    meaning = "F1 of spans or brackets: the harmonic mean of their precision and recall."
    format = "percent"
    lean_spans = Metric.spans
    terminal = {"running": 42}
    page = {"chosen": 42}
    prometheus = {"learners": "learner_span_f1_ratio", "baselines": "baseline_span_f1_ratio"}

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.sentences
        return ratio(2.0 * totals.own[:, RIGHT_SPANS], totals.own[:, PREDICTED_SPANS] + totals.shared[SPANS], np.nan)


class SpanPrecision(Metric):
    """Of the spans that were predicted."""

    name = "precision"
    title = "precision"
    meaning = "Share of the predicted spans or brackets that are right."
    format = "percent"

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.sentences
        return ratio(totals.own[:, RIGHT_SPANS], totals.own[:, PREDICTED_SPANS], np.nan)


class SpanRecall(Metric):
    """Of the true spans."""

    name = "recall"
    title = "recall"
    meaning = "Share of the true spans or brackets that were found."
    format = "percent"

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.sentences
        return ratio(totals.own[:, RIGHT_SPANS], totals.shared[SPANS], np.nan)


class KnownAccuracy(Metric):
    """Of tokens whose word was learned in a sentence before."""

    name = "known_accuracy"
    title = "known words"
    meaning = "Accuracy where the word was seen before with a tag."
    format = "percent"
    terminal = {"running": 46}
    page = {"chosen": 46}
    prometheus = {"learners": "learner_known_word_accuracy_ratio"}

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.sentences
        return ratio(totals.own[:, KNOWN_HITS], totals.shared[KNOWN], np.nan)


class UnknownAccuracy(Metric):
    """Of all other tokens."""

    name = "unknown_accuracy"
    title = "new words"
    meaning = "Accuracy where the word was not seen before with a tag."
    format = "percent"
    terminal = {"running": 47}
    page = {"chosen": 47}
    prometheus = {"learners": "learner_unknown_word_accuracy_ratio"}

    def compute(self, sums: Sums) -> NDArray[np.float64]:
        totals = sums.sentences
        hits = totals.own[:, HITS] - totals.own[:, KNOWN_HITS]
        return ratio(hits, totals.shared[TOKENS] - totals.shared[KNOWN], np.nan)
