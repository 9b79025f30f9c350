"""Metrics of clusters of texts."""

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.spans import Span, Sums
from streamlin.evaluation.topic_tally import NEW, SIMILARITY

if TYPE_CHECKING:
    from streamlin.evaluation.topics import TopicSums


class _OfTopics(Metric):
    spans: ClassVar[tuple[Span, ...]] = ("running", "window")

    def compute(self, sums: Sums) -> NDArray[Any]:
        return self._of(cast("TopicSums", sums))

    def _of(self, sums: "TopicSums") -> NDArray[Any]:
        raise NotImplementedError


class ClusterCount(_OfTopics):
    """Of clusters in use."""

    name = "clusters"
    title = "clusters"
    meaning = "Number of clusters in use."
    format = "count"
    spans = ("running",)
    terminal = {"running": 71}
    page = {"running": 71}

    def _of(self, sums: "TopicSums") -> NDArray[Any]:
        return sums.clusters


class NewTexts(_OfTopics):
    """By weight."""

    name = "new"
    title = "new"
    meaning = "Share of texts that fit no cluster and began one."
    format = "percent"
    terminal = {"running": 72, "window": 73}
    page = {"chosen": 72}
    prometheus = {"learners": "learner_new_texts_ratio"}

    def _of(self, sums: "TopicSums") -> NDArray[Any]:
        return sums.topics.shares(NEW, sums.span == "window")


class MeanSimilarity(_OfTopics):
    """By weight."""

    name = "similarity"
    title = "similarity"
    meaning = "Mean of how well texts fit their clusters, from 0 to 1."
    terminal = {"running": 74, "window": 75}
    page = {"chosen": 74}
    prometheus = {"learners": "learner_similarity"}

    def _of(self, sums: "TopicSums") -> NDArray[Any]:
        return sums.topics.shares(SIMILARITY, sums.span == "window")


class Agreement(_OfTopics):
    """With labels."""

    spans = ("running",)


class MutualInformation(Agreement):
    """By weight."""

    name = "nmi"
    title = "NMI"
    meaning = "Agreement of clusters with labels: normalized mutual information, from 0 to 1."
    terminal = {"running": 76}
    page = {"running": 76}
    prometheus = {"learners": "learner_nmi"}

    def _of(self, sums: "TopicSums") -> NDArray[Any]:
        return sums.topics.mutual_information()


class Purity(Agreement):
    """By weight."""

    name = "purity"
    title = "purity"
    meaning = "Agreement of clusters with labels: share of texts whose label is the commonest of their cluster."
    format = "percent"
    terminal = {"running": 77}
    page = {"running": 77}
    prometheus = {"learners": "learner_purity_ratio"}

    def _of(self, sums: "TopicSums") -> NDArray[Any]:
        return np.asarray(sums.topics.purity())
