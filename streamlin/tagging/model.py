"""The taggers with their features, tags and metrics: what `streamlin.model.Model` is for classifiers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig, further_fields
from streamlin.delayed_labels import open_delayed_labels
from streamlin.delayed_labels.plan import text_of_row
from streamlin.evaluation.measures import Measures
from streamlin.evaluation.tagging import TaggingPrequential, TagPredictions, WordsCounted
from streamlin.events import Batch, LabelIndex
from streamlin.learners.side_by_side import SideBySide
from streamlin.storage.arrays import Expected, Layout, arrays_under, length_of
from streamlin.tagging.base import Tagger
from streamlin.tagging.features import TokenBuckets
from streamlin.tagging.kinds import from_config
from streamlin.tagging.late_tags import SentenceForm, keep, recall, tags_of_rows
from streamlin.tagging.lines import TagLines
from streamlin.tagging.sentences import TagTargets, no_predictions
from streamlin.tagging.targets import has_tag, learn_tags, no_tags
from streamlin.tagging.token_features import TokenFeatures

_MANY = 1000
"""Tokens; with fewer, it takes longer to have something done beside the taggers than to do it afterwards."""


class LearnedSentences(NamedTuple):
    """The rows that a step has learned: one for each sentence, and one for each whose tags came later.

    rows : their positions. codes : int32[m], their tags; -1: unknown. predictions : those for each row.
    bounds : int64[n + 1], of the tokens of each row. texts, sources : see `streamlin.model.Learned`.
    """

    rows: Batch
    codes: NDArray[np.int32]
    predictions: TagPredictions
    bounds: NDArray[np.int64]
    texts: tuple[Batch, Batch]
    sources: NDArray[np.int64] | None = None

    def text(self, row: int) -> tuple[Batch, int]:
        """The batch that holds a row's sentence, and the index of the event in it."""
        return text_of_row(self.texts, self.sources, row)


class TaggingModel:
    """The features of tokens, their rows, the tags, the taggers, and their metrics.

    `featurize` reads no state, so it may run ahead on another thread; `step` must get the batches in order.
    """

    external_models: Mapping[str, Any] = {}
    views: Mapping[str, Any] = {}
    views_of: Mapping[str, tuple[str, ...]] = {}
    feature_names: Mapping[str, Any] = {}
    asking = None

    def __init__(self, config: RunConfig) -> None:
        self.labels = LabelIndex()
        """The tags."""
        self.learned: LearnedSentences
        """The rows of the last `step`."""
        self.further_fields = further_fields(config)
        self._config = config
        self.learners: dict[str, Tagger] = {learner.name: from_config(learner) for learner in config.learners}  # type: ignore[arg-type]  # checked by the configuration
        self.names = list(self.learners)
        self.features = TokenFeatures(config.fields.columns, config.features.bits, config.features.max_rows)
        self.view, self.rows = self.features.view, self.features.rows
        self.measures = Measures.of(config)
        self.prequential = TaggingPrequential(self.names, config.evaluation, self.measures)
        self._notices: list[str] = []
        self._side_by_side = SideBySide(config.pipeline.threads)
        form = SentenceForm(self.further_fields, len(self.names), len(config.fields.columns))
        self.delayed_labels = open_delayed_labels(config, form)

    def featurize(self, batch: Batch) -> TokenBuckets:
        """The features of a batch; its distinct tags are found here too, on the thread that reads."""
        assert batch.tokens is not None
        _ = batch.tokens.distinct_tags
        return self.view.buckets(batch)

    def step(self, batch: Batch, features: TokenBuckets) -> tuple[Batch, TagPredictions]:
        """Test, then train, sentence by sentence.

        Returns the predicted sentences, which are all events except those that bring only late tags, and their
        predictions.
        """
        assert batch.tokens is not None
        plan, own = None if self.delayed_labels is None else self.delayed_labels.plan(batch), features
        rows, old, sources, tags = batch, batch[:0], None, batch.tokens.distinct_tags
        if plan is not None:
            rows = plan.rows
            if not plan.is_plain:
                old, sources = plan.old_batch(), plan.sources
                features = features.followed_by(self.featurize(old)).take(sources)
            tags = tags_of_rows(rows.labels, features.bounds)
        bounds = features.bounds
        targets = learn_tags(self.labels, tags, rows.weights, bounds)
        codes = targets.codes
        labelled = has_tag(codes, bounds)
        prequential, beside = self.prequential, list[WordsCounted]()
        counted = features.words, codes, bounds, rows.weights, len(self.labels)
        predictions = self._predictions(
            features, targets, labelled, lambda: beside.append(prequential.predict_words(*counted))
        )
        earlier = None if plan is None else recall(plan, predictions, bounds, len(self.labels))
        lead, baselines, known = prequential.count(
            *(predictions.tags, codes, bounds, rows.weights, features.words, self.labels, rows.extra),
            *(rows.place, earlier, beside[0] if beside else None),
        )
        measures = self.measures.update(batch, own.hashes, prequential.events)
        predictions = predictions._replace(lead=lead, baselines=baselines)
        prequential.events += batch.n_texts
        prequential.labelled += int(labelled.sum())
        self.learned = LearnedSentences(rows, codes, predictions, bounds, (batch, old), sources)
        if self.delayed_labels is None or plan is None:
            return batch, predictions._replace(measures=measures)
        keep(plan, predictions, known, bounds)
        self.delayed_labels.settle()
        if plan.is_plain:
            return batch, predictions._replace(measures=measures)
        given = predictions.take(plan.given, bounds)
        return batch.take(plan.events), given._replace(measures=measures[:, plan.events])

    def predict(self, batch: Batch, features: TokenBuckets) -> tuple[Batch, TagPredictions]:
        """Predict without learning; nothing changes. Returns the same as `step`."""
        n = len(batch)
        targets = no_tags(n, len(batch.texts), len(self.labels))
        predictions = self._predictions(features, targets, np.zeros(n, np.bool_))
        measures = self.measures.of_tokens(features.hashes, n)
        predictions = predictions._replace(lead=self.prequential.lead(n), measures=measures)
        if batch.label_only is None:
            return batch, predictions
        texts = np.flatnonzero(~batch.label_only)
        return batch.take(texts), predictions.take(texts, features.bounds)

    def given_out(self, batch: Batch, predictions: TagPredictions) -> list[Any]:
        """The leading tagger's tags for each sentence; None for a token without one."""
        lead = np.repeat(predictions.lead, np.diff(_bounds(batch)))
        return self._named(batch, predictions.tags[lead, np.arange(lead.size)])

    def columns(self, batch: Batch, predictions: TagPredictions) -> dict[str, list[Any]]:
        """What a data frame of predictions holds besides the ids."""
        assert batch.tokens is not None
        confidences = predictions.confidences[predictions.lead, np.arange(len(batch))]
        return {
            "predicted": self.given_out(batch, predictions),
            "confidence": [None if share != share else share for share in confidences.tolist()],
            **self.measures.columns(predictions.measures),
            **{name: self._named(batch, tags) for name, tags in zip(self.names, predictions.tags, strict=True)},
            "label": _divided(batch.tokens.tags, _bounds(batch)),
        }

    def lines(self) -> TagLines:
        """What makes the lines of its predictions."""
        return TagLines(self.names, self.labels, self.measures.names)

    def _named(self, batch: Batch, codes: NDArray[np.int32]) -> list[list[str | None]]:
        """The tags of each sentence, from the codes of all tokens."""
        names = [*self.labels.names, None]  # code -1 is the last one, None
        return _divided([names[code] for code in codes.tolist()], _bounds(batch))

    def pop_notices(self) -> list[str]:
        """The notices since the last call, which removes them."""
        late = [] if self.delayed_labels is None else self.delayed_labels.notices
        notices = [*self._notices, *late, *self.measures.pop_notices()]
        for told in (self._notices, late):
            told.clear()
        return notices

    def _predictions(
        self,
        features: TokenBuckets,
        targets: TagTargets,
        learned: NDArray[np.bool_],
        beside: Callable[[], object] | None = None,
    ) -> TagPredictions:
        """Have each tagger predict, then learn. beside : what may be done meanwhile."""
        learned = learned & (targets.weights > 0)
        full_before = self.features.full
        sentences = self.features.sentences(features, learned)
        if self.features.full and not full_before:
            most = self._config.features.max_rows
            self._notices.append(f"features.max_rows: there are {most:,} features, further ones are ignored")
        n, m = learned.size, targets.codes.size
        wanted = self._config.pipeline.token_confidence
        each = [no_predictions(n, m, wanted) for _ in self.learners]
        for tagger in self.learners.values():
            tagger.grow(*self.features.sizes, len(self.labels))
        calls: list[Callable[[], object]] = [
            partial(tagger.tag_then_learn, sentences, targets, tagged)
            for tagger, tagged in zip(self.learners.values(), each, strict=True)
        ]
        if beside is not None and m >= _MANY:
            calls.append(beside)
        self._side_by_side.run(calls)
        return TagPredictions(
            np.array([tagged.tags for tagged in each], np.int32).reshape(len(each), m),
            np.zeros(n, np.int32),
            np.array([tagged.confidences for tagged in each]).reshape(len(each), n),
            np.array([tagged.token_confidences for tagged in each], np.float32).reshape(len(each), -1),
            np.full((1, m), -1, np.int32),
            np.empty((0, n)),
        )

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and everything else as JSON-able values."""
        arrays: dict[str, NDArray[Any]] = {f"rows/{name}": rows.index.buckets for name, rows in self.rows.items()}
        sizes = *self.features.sizes, len(self.labels)
        for name, tagger in self.learners.items():
            arrays |= {f"learners/{name}/{table}": array for table, array in tagger.state(*sizes).items()}
        measured, counts = self.prequential.state()
        arrays |= {f"evaluation/{name}": array for name, array in measured.items()}
        rest = {"labels": self.labels.names, "evaluation": counts}
        if self.delayed_labels is not None:
            waiting, rest["delayed_labels"] = self.delayed_labels.state()
            arrays |= {f"delayed_labels/{name}": array for name, array in waiting.items()}
        return arrays, rest

    def expected(self, layout: Mapping[str, Layout], n_tags: int) -> dict[str, Expected]:
        """What the arrays of a checkpoint with so many tags must be.

        layout : of the arrays in the file; the numbers of features, contexts and pairs of tags are taken from it.
        """
        arrays = {f"rows/{name}": rows.index.expected()[0] for name, rows in self.rows.items()}
        n_rows, n_contexts = (length_of(layout, f"rows/{name}") for name in self.rows)
        for name, tagger in self.learners.items():
            prefix = f"learners/{name}/"
            tables = tagger.expected(n_rows, n_contexts, n_tags, arrays_under(layout, prefix))
            arrays |= {f"{prefix}{table}": array for table, array in tables.items()}
        measured = self.prequential.expected(n_tags)
        return arrays | {f"evaluation/{name}": array for name, array in measured.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Restore a `state` into a new model of the same configuration."""
        self.labels = LabelIndex(rest["labels"])
        for name, rows in self.rows.items():
            rows.index.restore(arrays[f"rows/{name}"])
        for name, tagger in self.learners.items():
            tagger.restore(arrays_under(arrays, f"learners/{name}/"))
        self.prequential.restore(arrays_under(arrays, "evaluation/"), rest["evaluation"])
        self.prequential.know_tags(self.labels)
        if self.delayed_labels is not None:
            self.delayed_labels.restore(arrays_under(arrays, "delayed_labels/"), rest["delayed_labels"])

    def close(self) -> None:
        """Close what is open."""
        self._side_by_side.close()
        if self.delayed_labels is not None:
            self.delayed_labels.close()


def _bounds(batch: Batch) -> NDArray[np.int64]:
    assert batch.pieces is not None
    return batch.pieces


def _divided(values: Sequence[str | None], bounds: NDArray[np.int64]) -> list[list[str | None]]:
    """The values of each sentence's tokens."""
    listed = [*values]
    return [listed[begin:end] for begin, end in pairwise(bounds.tolist())]
