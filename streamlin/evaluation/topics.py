"""Evaluation of clusters of texts; each text is given its cluster, then counted, before it changes the clusters."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation import metrics
from streamlin.evaluation.array_state import ArrayState
from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics.topics import Agreement
from streamlin.evaluation.prequential import Prequential
from streamlin.evaluation.spans import Span, Sums
from streamlin.evaluation.topic_tally import TopicTally
from streamlin.events import LabelIndex


class TopicPredictions(NamedTuple):
    """The clusters of a batch of n texts.

    numbers : int32[L, n], each clusterer's; 0 for none. similarities : float64[L, n]. new : bool[L, n].
    lead : int32[n], the clusterer whose clusters are given out.
    """

    numbers: NDArray[np.int32]
    similarities: NDArray[np.float64]
    new: NDArray[np.bool_]
    lead: NDArray[np.int32]


class TopicSums(Sums):
    """What was counted over one span. clusters : int64[L], how many are in use."""

    def __init__(self, span: Span, tally: TopicTally, clusters: NDArray[np.int64]) -> None:
        self.span, self.n_learners = span, clusters.size
        self.topics, self.clusters = tally, clusters


class TopicsPrequential(Prequential):
    """Everything that is counted about one run of clusterers; labels are counted where the stream has them.

    clusters : how many each clusterer has at most. labels : those that are counted one by one.
    describe : returns the clusters for the report, and how many each clusterer has in use.
    """

    has_probabilities = False

    def __init__(
        self,
        learners: Sequence[str],
        config: EvaluationConfig,
        clusters: Sequence[int],
        describe: Callable[[bool], dict[str, Any]],
        in_use: Callable[[], NDArray[np.int64]],
    ) -> None:
        super().__init__(learners, config)
        self.complete = False
        self._most_labels = config.confusion_labels
        self.topics = TopicTally(len(learners), max(clusters), config.confusion_labels + 1, config.window)
        self.metrics = [[metric(len(learners), config) for metric in group] for group in metrics.TOPICS]
        self.describe, self._in_use = describe, in_use

    @property
    def baseline_names(self) -> list[str]:
        """There are none."""
        return []

    def spans(self, metric: Metric) -> tuple[Span, ...]:
        """Those that a metric is computed over; agreement with labels only where there are labels."""
        return () if isinstance(metric, Agreement) and not self.topics.has_labels else metric.spans

    def sums(self, span: Span) -> Sums:
        """What was counted over a span."""
        return TopicSums(span, self.topics, self._in_use())

    def more(self, details: bool) -> dict[str, Any]:
        """The clusters."""
        return {"topics": self.describe(details)}

    @property
    def label_weights(self) -> NDArray[np.float64]:
        """float64[labels]: the weight of each label's texts."""
        weights: NDArray[np.float64] = self.topics.labels[0]
        return weights

    def codes(self, labels: LabelIndex, given: Sequence[str | None], weights: NDArray[np.float64]) -> NDArray[np.int32]:
        """int32[n]: the codes of labels, which are learned up to the limit; all others have one code; -1 for none."""
        if any(label is not None for label in given):
            counted = zip(given, weights.tolist(), strict=True)
            new = labels.unknown(label for label, weight in counted if weight > 0)
            labels.learn(new[: max(0, self._most_labels - len(labels))])
        codes = labels.codes(given)
        others = [code < 0 and label is not None for code, label in zip(codes.tolist(), given, strict=True)]
        codes[others] = self._most_labels
        return codes

    def _parts(self) -> Iterator[tuple[str, ArrayState]]:
        """See `Prequential`."""
        yield "topics", self.topics
