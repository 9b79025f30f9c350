"""Prequential evaluation of taggers: each sentence is predicted, then counted, before it is learned."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation import metrics
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.commonest_tag import CommonestTag
from streamlin.evaluation.curve import POINTS
from streamlin.evaluation.drift import Drift
from streamlin.evaluation.measures import Measures
from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics.sentences import SpanF1, SpanPrecision, SpanRecall
from streamlin.evaluation.prequential import Prequential
from streamlin.evaluation.sentence_pairs import SentencePairs
from streamlin.evaluation.sentence_tally import SentenceTally
from streamlin.evaluation.spans import Span, Sums
from streamlin.evaluation.tag_spans import SpanTags, is_span_tag, span_tags
from streamlin.events import LabelIndex, taken


class TagPredictions(NamedTuple):
    """The predictions of a batch of n sentences of m tokens, each sentence's made before its tags were seen.

    tags : int32[L, m], each tagger's; -1 where no tag is known yet.
    lead : int32[n], the tagger whose tags are given out.
    confidences : float64[L, n], the probability of each tagger's tags; NaN where it has none.
    token_confidences : float32[L, m], of each token's tag; [L, 0] if they are not wanted.
    baselines : int32[1, m].
    measures : float64[k, n], the measures of each sentence that are asked for.
    """

    tags: NDArray[np.int32]
    lead: NDArray[np.int32]
    confidences: NDArray[np.float64]
    token_confidences: NDArray[np.float32]
    baselines: NDArray[np.int32]
    measures: NDArray[np.float64]

    def take(self, sentences: NDArray[np.int64], bounds: NDArray[np.int64]) -> "TagPredictions":
        """The predictions of some of the sentences, whose tokens are bounded by int64[n + 1]."""
        _, tokens = taken(bounds, sentences)
        shares = self.token_confidences
        return TagPredictions(
            self.tags[:, tokens],
            self.lead[sentences],
            self.confidences[:, sentences],
            shares[:, tokens] if shares.shape[1] else shares,
            self.baselines[:, tokens],
            self.measures[:, sentences],
        )


class EarlierTags(NamedTuple):
    """Tokens of a batch whose prediction was made earlier, for the same sentence.

    here, asked : int64[a], tokens whose prediction is that of the tokens `asked` of the same batch.
    before : int64[b], tokens predicted in an earlier batch. baseline : int32[b], what the baseline predicted of them.
    known : bool[b], whether their words were known then.
    """

    here: NDArray[np.int64]
    asked: NDArray[np.int64]
    before: NDArray[np.int64]
    baseline: NDArray[np.int32]
    known: NDArray[np.bool_]


class WordsCounted(NamedTuple):
    """Of m tokens, what the baseline predicted, int32[m], and whether their words were known before, bool[m]."""

    tags: NDArray[np.int32]
    known: NDArray[np.bool_]


class TaggingPrequential(Prequential):
    """Everything that is counted about one run of taggers; `labelled` counts sentences with a tag.

    Tokens are what is right or wrong; sentences are the unit of windows, fading, intervals and tests. The span metrics
    are counted while all tags look like B-…, I-…, E-…, S-… or O.
    """

    unit = "tokens"
    has_probabilities = False
    tally_type: type[SentenceTally] = SentenceTally
    metric_types = metrics.TAGGING

    def __init__(self, learners: Sequence[str], config: EvaluationConfig, measures: Measures | None = None) -> None:
        super().__init__(learners, config, measures=measures)
        n_predictors = len(learners) + len(CommonestTag.names)
        self.drift = Drift(self.learners, config, "sentence accuracy")
        self.commonest = CommonestTag()
        self.sentences = self.tally_type(n_predictors, config.window, config.fading, POINTS if self.complete else 0)
        self.pairs = SentencePairs(n_predictors, self.sentences)
        self.metrics = [[metric(n_predictors, config) for metric in group] for group in self.metric_types]
        self._span_tags: SpanTags | None = None
        self._tags_seen = -1

    @property
    def baseline_names(self) -> list[str]:
        """The baselines."""
        return [*CommonestTag.names]

    def spans(self, metric: Metric) -> tuple[Span, ...]:
        """Those that a metric is computed over; metrics of spans only where tags mark spans."""
        if isinstance(metric, SpanF1 | SpanPrecision | SpanRecall) and not self._span_tags:
            return ()
        return super().spans(metric)

    def sums(self, span: Span) -> Sums:
        """What was counted over a span, for metrics to be computed from."""
        return Sums(span, self.sentences, self.label_sums, self.pairs, None, len(self.learners))

    @property
    def label_weights(self) -> NDArray[np.float64]:
        """float64[n_tags]: the weight of each tag's tokens."""
        return self.commonest.tag_counts

    def course(self) -> SentenceTally:  # type: ignore[override]  # of the same interface
        """What knows the curve of accuracy."""
        return self.sentences

    def lead(self, n: int) -> NDArray[np.int32]:
        """int32[n]: the tagger that leads by now, for sentences that are predicted only."""
        if self.config.lead is not None:
            return np.full(n, self.learners.index(self.config.lead), np.int32)
        return np.full(n, self.sentences.hit_weights[: len(self.learners)].argmax(), np.int32)

    def predict_words(
        self,
        words: NDArray[np.uint32],
        codes: NDArray[np.int32],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_tags: int,
    ) -> WordsCounted:
        """Have the baseline predict, then count, the tokens of a batch; arguments as of `count`. Once for each batch.

        It needs no tagger's predictions, so that it may run while these are made.
        """
        tags = np.empty(codes.size, np.int32)
        return WordsCounted(tags, self.commonest.predict(words, codes, bounds, weights, n_tags, tags))

    def count(
        self,
        tags: NDArray[np.int32],
        codes: NDArray[np.int32],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
        words: NDArray[np.uint32],
        labels: LabelIndex,
        extra: Mapping[str, Sequence[str | None]],
        position: Callable[[int], str] | None = None,
        earlier: EarlierTags | None = None,
        baseline: WordsCounted | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
        """Count the hits of tags int32[L, m] among codes int32[m] (-1: unknown) of n sentences.

        words uint32[m]: hashes of the tokens. position : names the place of the i-th sentence in its source.
        earlier : tokens whose tags were predicted before, and with them what else is counted. baseline : what
        `predict_words` returned; None: it is called.
        Returns the lead int32[n], the baselines' predictions int32[1, m], and bool[m], whether each word was known.
        """
        n_learners = tags.shape[0]
        if baseline is None:
            baseline = self.predict_words(words, codes, bounds, weights, len(labels))
        predicted, known = np.concatenate([tags, baseline.tags[np.newaxis]]), baseline.known
        if earlier is not None:
            for found, before in ((predicted[n_learners], earlier.baseline), (known, earlier.known)):
                found[earlier.here] = found[earlier.asked]
                found[earlier.before] = before
        counted = int(self.sentences.count[0])
        lead = self._tally(predicted, codes, known, bounds, weights, labels)
        if self.config.lead is not None:
            lead[:] = self.learners.index(self.config.lead)
        lengths = np.diff(bounds)
        token_weights = np.repeat(weights, lengths)
        scored = np.where(token_weights > 0, codes, np.int32(-1))
        if self.complete:
            self.confusion.update(predicted[:n_learners], scored, len(labels))
            self.label_sums.update(predicted, scored, token_weights, len(labels))
            self.pairs.count(predicted, scored, bounds, weights)  # type: ignore[attr-defined]  # SentencePairs
            right, judged = _sentences_right(predicted[:n_learners], scored, bounds)
            self.new_alarms = self.drift.update(right, judged, counted, position)
        for field, slices in self.slices.items():
            values = [
                value for value, length in zip(extra[field], lengths.tolist(), strict=True) for _ in range(length)
            ]
            slices.update(values, predicted[:n_learners], scored, token_weights)
        return lead, predicted[n_learners:], known

    def _tally(
        self,
        predicted: NDArray[np.int32],
        codes: NDArray[np.int32],
        known: NDArray[np.bool_],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
        labels: LabelIndex,
    ) -> NDArray[np.int32]:
        """Count the hits; spans only in sentences before the first tag that marks none, wherever batches begin."""
        before, spans = max(self._tags_seen, 0), self.know_tags(labels)
        other = next((code for code, name in enumerate(labels.names) if not is_span_tag(name)), -1)
        first = 0 if other < before else int(np.searchsorted(bounds, (codes == other).argmax(), side="right")) - 1
        leads = []
        for begin, end, marked in ((0, first, span_tags(labels.names[:other])), (first, weights.size, spans)):
            part = slice(int(bounds[begin]), int(bounds[end]))
            own = bounds[begin : end + 1] - bounds[begin]
            columns = predicted[:, part], codes[part], known[part], own, weights[begin:end]
            leads.append(self.sentences.update(*columns, len(self.learners), marked))
        return np.concatenate(leads)

    def know_tags(self, labels: LabelIndex) -> SpanTags | None:
        """Find out what the tags known by now say of spans, and return it; None: they don't mark any."""
        if len(labels) != self._tags_seen:
            self._tags_seen = len(labels)
            self._span_tags = span_tags(labels.names)
        return self._span_tags

    def _parts(self) -> Iterator[tuple[str, ArrayState]]:
        """All that keep arrays, with the name that begins theirs in a checkpoint."""
        yield from (("sentences", self.sentences), ("tokens", self.sentences.tokens), ("commonest_tag", self.commonest))
        if self.complete:
            yield from (("sums", self.label_sums), ("pairs", self.pairs), ("confusion", self.confusion))
            if self.drift.detector is not None:
                yield "drift", self.drift.detector
        yield from self.measures.parts()
        yield from ((f"slices/{field}", slices) for field, slices in self.slices.items())


def _sentences_right(
    predicted: NDArray[np.int32], codes: NDArray[np.int32], bounds: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """int32[L, n], 1 for a sentence with all known tags right; int32[n], 1 if any is known, else -1.

    Detectors of drift suppose that errors are independent, which those of one sentence's tokens are not.
    """
    wrong = np.zeros((predicted.shape[0] + 1, codes.size + 1), np.int64)
    np.cumsum(codes >= 0, out=wrong[-1, 1:])
    np.cumsum((predicted != codes) & (codes >= 0), axis=1, out=wrong[:-1, 1:])
    found = wrong[:, bounds[1:]] - wrong[:, bounds[:-1]]
    return (found[:-1] == 0).astype(np.int32, order="C"), np.where(found[-1] > 0, 1, -1).astype(np.int32)
