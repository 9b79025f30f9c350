"""Prequential evaluation of parsers: each sentence is parsed, then counted, before its tree is learned."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation import metrics
from streamlin.evaluation.measures import Measures
from streamlin.evaluation.metric import Metric
from streamlin.evaluation.prequential import Prequential
from streamlin.evaluation.spans import Span
from streamlin.evaluation.tagging import TaggingPrequential
from streamlin.evaluation.tree_tally import TreeCounts, TreeTally
from streamlin.events import LabelIndex


class TreePredictions(NamedTuple):
    """The predictions of a batch of n sentences of m tokens, each sentence's made before its tree was seen.

    tags : int32[L, m], each parser's; -1 where it has no tree.
    lead : int32[n], the parser whose trees are given out.
    confidences, log_probabilities : float64[L, n], of each parser's tree among all, and of the sentence; NaN where it
        has none.
    covered : bool[L, n], whether the grammar has a tree of the whole sentence.
    trees : for each parser those in brackets; None where it has none.
    baselines : int32[1, m].
    measures : float64[k, n], the measures of each sentence that are asked for.
    """

    tags: NDArray[np.int32]
    lead: NDArray[np.int32]
    confidences: NDArray[np.float64]
    log_probabilities: NDArray[np.float64]
    covered: NDArray[np.bool_]
    trees: list[list[str | None]]
    baselines: NDArray[np.int32]
    measures: NDArray[np.float64]


class ParsingPrequential(TaggingPrequential):
    """Everything that is counted about one run of parsers; `labelled` counts sentences with a tree.

    Tags are counted as those of taggers; the metrics of spans are of brackets. The parser of the best F1 leads.

    too_long : how many sentences with a tree were too long to be parsed; nothing else is counted of these.
    """

    sentences: TreeTally
    tally_type = TreeTally
    metric_types = metrics.PARSING

    def __init__(self, learners: Sequence[str], config: EvaluationConfig, measures: Measures | None = None) -> None:
        super().__init__(learners, config, measures)
        self.too_long = 0
        self._trees = TreeCounts.empty(0, len(learners) + len(self.baseline_names))

    @property
    def counts(self) -> dict[str, int]:
        """See `Prequential`."""
        return super().counts | {"too_long": self.too_long}

    def spans(self, metric: Metric) -> tuple[Span, ...]:
        """Those that a metric is computed over."""
        return Prequential.spans(self, metric)

    def count_trees(
        self,
        tags: NDArray[np.int32],
        codes: NDArray[np.int32],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
        words: NDArray[np.uint32],
        labels: LabelIndex,
        extra: Mapping[str, Sequence[str | None]],
        trees: TreeCounts,
        position: Callable[[int], str],
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """`count`, with the brackets of each sentence. Returns the lead and the baselines' predictions."""
        self._trees = trees
        lead, baselines, _ = self.count(tags, codes, bounds, weights, words, labels, extra, position)
        return lead, baselines

    def _tally(
        self,
        predicted: NDArray[np.int32],
        codes: NDArray[np.int32],
        known: NDArray[np.bool_],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
        labels: LabelIndex,
    ) -> NDArray[np.int32]:
        """See `TaggingPrequential`."""
        return self.sentences.update_trees(predicted, codes, known, bounds, weights, len(self.learners), self._trees)

    def restore(self, arrays: Mapping[str, NDArray[Any]], rest: Mapping[str, Any]) -> None:
        """See `Prequential`."""
        super().restore(arrays, rest)
        self.too_long = rest["too_long"]
