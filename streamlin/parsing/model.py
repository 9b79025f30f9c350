"""The parsers with their words, tags and metrics: what `streamlin.model.Model` is for classifiers."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.errors import CheckpointError
from streamlin.evaluation.measures import Measures
from streamlin.evaluation.parsing import ParsingPrequential, TreePredictions
from streamlin.evaluation.tree_tally import TreeCounts
from streamlin.events import Batch, LabelIndex
from streamlin.formats.trees import Tree, read_tree, write_tree
from streamlin.parsing.kinds import from_config
from streamlin.parsing.lines import TreeLines, rounded
from streamlin.parsing.pcfg import PCFG, Parsed
from streamlin.storage.arrays import Expected, Layout, arrays_under, length_of
from streamlin.tagging.features import TokenBuckets, TokenView
from streamlin.tagging.model import LearnedSentences
from streamlin.tagging.rows import TokenRows
from streamlin.tagging.sentences import Sentences


class TreeFeatures(NamedTuple):
    """The features of the tokens of n sentences, and their trees; None for a sentence without."""

    tokens: TokenBuckets
    trees: list[Tree | None]


class ParsingModel:
    """The contexts of words, their rows, the tags, the parsers, and their metrics.

    `featurize` reads no state, so it may run ahead on another thread; `step` must get the batches in order.
    """

    external_models: Mapping[str, Any] = {}
    views: Mapping[str, Any] = {}
    views_of: Mapping[str, tuple[str, ...]] = {}
    feature_names: Mapping[str, Any] = {}
    delayed_labels = None
    asking = None

    def __init__(self, config: RunConfig) -> None:
        self.labels = LabelIndex()
        """The tags."""
        self.learned: LearnedSentences
        """The sentences of the last `step`."""
        self._bits, self._most = config.features.bits, config.features.max_rows
        self.learners: dict[str, PCFG] = {
            learner.name: from_config(learner, self._most)  # type: ignore[arg-type]  # checked by the configuration
            for learner in config.learners
        }
        self.names = list(self.learners)
        self.max_tokens = max(parser.max_tokens for parser in self.learners.values())
        self.view = TokenView(self._bits)
        self.rows = {"contexts": TokenRows(self._bits, self._most)}
        self.measures = Measures.of(config)
        self.prequential = ParsingPrequential(self.names, config.evaluation, self.measures)
        self._notices: list[str] = []
        self._told = set[str]()

    def featurize(self, batch: Batch) -> TreeFeatures:
        """The features of a batch."""
        return TreeFeatures(
            self.view.buckets(batch), [None if text is None else read_tree(text) for text in batch.labels]
        )

    def step(self, batch: Batch, features: TreeFeatures) -> tuple[Batch, TreePredictions]:
        """Test, then train, sentence by sentence. Returns the batch and the predictions."""
        assert batch.tokens is not None
        tokens, trees = features
        lengths, weights = np.diff(tokens.bounds), batch.weights
        learned = np.array([tree is not None for tree in trees], np.bool_) & (weights > 0)
        known = len(self.labels)
        tags = batch.tokens.distinct_tags.only(np.repeat(learned, lengths))
        codes = tags.coded(self.labels.learn(tags.values))
        predictions, brackets = self._predictions(batch, features, learned, codes, known)
        prequential = self.prequential
        scored = np.where(np.repeat(lengths <= self.max_tokens, lengths), codes, np.int32(-1))
        position = batch.place
        lead, baselines = prequential.count_trees(
            *(predictions.tags, scored, tokens.bounds, weights, tokens.words, self.labels, batch.extra),
            brackets,
            position,
        )
        measures = self.measures.update(batch, tokens.hashes, prequential.events)
        predictions = predictions._replace(lead=lead, baselines=baselines, measures=measures)
        self._count_long(np.flatnonzero(learned & (lengths > self.max_tokens)), lengths, position)
        prequential.events += len(batch)
        prequential.labelled += len(trees) - trees.count(None)
        self.learned = LearnedSentences(
            batch,
            scored,
            predictions,  # type: ignore[arg-type]  # of the same interface, as far as the page reads it
            tokens.bounds,
            (batch, batch[:0]),
        )
        return batch, predictions

    def predict(self, batch: Batch, features: TreeFeatures) -> tuple[Batch, TreePredictions]:
        """Predict without learning; nothing changes. Returns the same as `step`."""
        n, m = len(batch), len(batch.texts)
        nothing = np.zeros(n, np.bool_), np.full(m, -1, np.int32), len(self.labels)
        predictions, _ = self._predictions(batch, features, *nothing)
        measures = self.measures.of_tokens(features.tokens.hashes, n)
        return batch, predictions._replace(lead=self.prequential.lead(n), measures=measures)

    def given_out(self, batch: Batch, predictions: TreePredictions) -> list[Any]:
        """The leading parser's tree of each sentence, in brackets; None for a sentence that was not parsed."""
        return [predictions.trees[lead][i] for i, lead in enumerate(predictions.lead.tolist())]

    def columns(self, batch: Batch, predictions: TreePredictions) -> dict[str, list[Any]]:
        """What a data frame of predictions holds besides the ids."""
        confidences = predictions.confidences[predictions.lead, np.arange(len(batch))]
        return {
            "predicted": self.given_out(batch, predictions),
            "confidence": [rounded(share) for share in confidences],
            **self.measures.columns(predictions.measures),
            **dict(zip(self.names, predictions.trees, strict=True)),
            "label": batch.labels,
        }

    def lines(self) -> TreeLines:
        """What makes the lines of its predictions."""
        return TreeLines(self.names, self.measures.names)

    def pop_notices(self) -> list[str]:
        """The notices since the last call, which removes them."""
        notices, self._notices = self._notices, []
        return notices + self.measures.pop_notices()

    def _notice(self, key: str, line: str) -> None:
        """Have a line shown, once for each key."""
        if key not in self._told:
            self._told.add(key)
            self._notices.append(f"{key}: {line}")

    def _count_long(self, long: NDArray[np.int64], lengths: NDArray[np.int64], position: Any) -> None:
        """Count the sentences with a tree that are too long to be parsed."""
        self.prequential.too_long += long.size
        if long.size:
            where, most = f"{position(int(long[0]))} has {lengths[long[0]]} words", self.max_tokens
            self._notice("max_tokens", f"{where}, and sentences of more than {most} are learned, not parsed")

    def _predictions(
        self, batch: Batch, features: TreeFeatures, learned: NDArray[np.bool_], codes: NDArray[np.int32], known: int
    ) -> tuple[TreePredictions, TreeCounts]:
        """Have each parser parse, then learn. learned : which sentences are. known : how many tags are known before."""
        tokens, trees = features
        n, m, size = len(batch), codes.size, len(self.learners)
        rows, before = self.rows["contexts"].assign(tokens.bounds, tokens.contexts, learned)
        sentences = Sentences(tokens.bounds, rows, before, rows, before)
        found = TreePredictions(
            np.full((size, m), -1, np.int32),
            np.zeros(n, np.int32),
            np.full((size, n), np.nan),
            np.full((size, n), np.nan),
            np.zeros((size, n), np.bool_),
            [[None] * n for _ in range(size)],
            np.full((1, m), -1, np.int32),
            np.empty((0, n)),
        )
        counts = TreeCounts.empty(n, size + len(self.prequential.baseline_names))
        for parser in self.learners.values():
            parser.lexicon.grow(0, len(self.rows["contexts"]), len(self.labels))
        for i, (begin, end) in enumerate(pairwise(tokens.bounds.tolist())):
            tree, names = trees[i], self.labels.names[:known]
            for number, parser in enumerate(self.learners.values()):
                parsed = parser.parse(sentences, i, names, self._bits)
                if parsed is not None:
                    found.tags[number, begin:end] = self.labels.codes(parsed.tags)
                    _keep(found, number, i, parsed, list(batch.texts[begin:end]))
                if tree is not None:
                    counts.set(i, number, tree.brackets, () if parsed is None else parsed.brackets)
                    counts.exact[i, number] *= parsed is not None
                    counts.covered[i, number] = parsed is not None and parsed.covered
                    if learned[i]:
                        parser.learn(sentences, i, tree, codes, float(batch.weights[i]))
            known = max(known, int(codes[begin:end].max(initial=-1)) + 1)
        if self.rows["contexts"].full or any(parser.grammar.full for parser in self.learners.values()):
            self._notice("features.max_rows", f"there are {self._most:,} contexts or rules, further ones are ignored")
        return found, counts

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and everything else as JSON-able values."""
        arrays: dict[str, NDArray[Any]] = {f"rows/{name}": rows.index.buckets for name, rows in self.rows.items()}
        sizes = len(self.rows["contexts"]), len(self.labels)
        for name, parser in self.learners.items():
            arrays |= {f"learners/{name}/{table}": array for table, array in parser.state(*sizes).items()}
        measured, counts = self.prequential.state()
        arrays |= {f"evaluation/{name}": array for name, array in measured.items()}
        symbols = {name: list(parser.grammar.symbols.names) for name, parser in self.learners.items()}
        return arrays, {"labels": self.labels.names, "symbols": symbols, "evaluation": counts}

    def expected(self, layout: Mapping[str, Layout], n_tags: int) -> dict[str, Expected]:
        """What the arrays of a checkpoint with so many tags must be. layout : of the arrays in the file."""
        arrays = {f"rows/{name}": rows.index.expected()[0] for name, rows in self.rows.items()}
        n_contexts = length_of(layout, "rows/contexts")
        for name, parser in self.learners.items():
            prefix = f"learners/{name}/"
            tables = parser.expected(n_contexts, n_tags, arrays_under(layout, prefix))
            arrays |= {f"{prefix}{table}": array for table, array in tables.items()}
        return arrays | {f"evaluation/{name}": array for name, array in self.prequential.expected(n_tags).items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """Restore a `state` into a new model of the same configuration. Raises CheckpointError if it has no symbols."""
        self.labels = LabelIndex(rest["labels"])
        for name, rows in self.rows.items():
            rows.index.restore(arrays[f"rows/{name}"])
        for name, parser in self.learners.items():
            if name not in rest.get("symbols", {}):
                raise CheckpointError(f"the checkpoint's state has no symbols of {name}")
            parser.restore(arrays_under(arrays, f"learners/{name}/"), rest["symbols"][name], self.labels.names)
        self.prequential.restore(arrays_under(arrays, "evaluation/"), rest["evaluation"])

    def close(self) -> None:
        """Nothing is open."""


def _keep(found: TreePredictions, number: int, i: int, parsed: Parsed, words: list[str]) -> None:
    """Keep what parser `number` says of sentence i."""
    found.confidences[number, i], found.log_probabilities[number, i] = parsed.confidence, parsed.log_probability
    found.covered[number, i] = parsed.covered
    found.trees[number][i] = write_tree(Tree(words, parsed.tags, parsed.brackets))
