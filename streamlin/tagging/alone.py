"""A tagger used without a pipeline."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from streamlin.events import Batch, LabelIndex, single_records
from streamlin.formats.tokens import sentences as columns_of
from streamlin.tagging.base import Tagger
from streamlin.tagging.sentences import Tagged, TagTargets, no_predictions
from streamlin.tagging.targets import has_tag, learn_tags, no_tags
from streamlin.tagging.token_features import TokenFeatures

Tags = list[str | None]


class StandaloneTagger:
    """A tagger that numbers the features and tags of sentences itself, and measures nothing.

    tagger, features : new ones. labels : the tags learned so far.
    """

    def __init__(self, tagger: Tagger, features: TokenFeatures) -> None:
        self.tagger, self.features, self.labels = tagger, features, LabelIndex()

    def learn(self, sentences: Batch) -> list[Tags]:
        """Predict, then learn, sentence by sentence; returns the predictions, each made before its tags were seen."""
        assert sentences.tokens is not None
        assert sentences.pieces is not None
        targets = learn_tags(self.labels, sentences.tokens.distinct_tags, sentences.weights, sentences.pieces)
        learned = has_tag(targets.codes, sentences.pieces)
        return self._named(sentences, self._tagged(sentences, targets, learned))

    def predict(self, sentences: Batch) -> list[Tags]:
        """The tags of each sentence; None while no tag is known."""
        targets = no_tags(len(sentences), len(sentences.texts), len(self.labels))
        return self._named(sentences, self._tagged(sentences, targets, None))

    def _tagged(self, sentences: Batch, targets: TagTargets, learned: NDArray[np.bool_] | None) -> Tagged:
        rows = self.features.sentences(self.features.view.buckets(sentences), learned)
        tagged = no_predictions(len(sentences), targets.codes.size, False)
        self.tagger.grow(*self.features.sizes, len(self.labels))
        self.tagger.tag_then_learn(rows, targets, tagged)
        return tagged

    def _named(self, sentences: Batch, tagged: Tagged) -> list[Tags]:
        assert sentences.pieces is not None
        names = [*self.labels.names, None]  # code -1 is the last one, None
        tags = [names[code] for code in tagged.tags.tolist()]
        return [tags[begin:end] for begin, end in pairwise(sentences.pieces.tolist())]


def batch_of(
    tokens: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str | None] | None],
    columns: Mapping[str, Sequence[Sequence[str | None] | None]],
    weights: NDArray[np.float64],
) -> Batch:
    """n sentences as a batch; weights float64[n]. Raises RecordError for lists of different lengths."""
    n = len(tokens)
    texts, bounds, beside = columns_of(tokens, tags, columns)
    return Batch(
        ids=[None] * n,
        texts=texts,
        labels=[None] * n,
        weights=weights,
        times=np.full(n, np.nan),
        extra={},
        records=single_records([b""] * n),
        kept=np.arange(n),
        pieces=bounds,
        tokens=beside,
    )
