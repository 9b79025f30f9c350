"""The features of a text in one view, with the n-grams they represent and their locations in the text."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features import Buckets
from streamlin.features.names import Names, is_name_of
from streamlin.features.ngram_locations import Ngrams
from streamlin.features.ngrams import buckets_of
from streamlin.features.rows import RowIndex

Span = tuple[int, int]
MOST_SPANS = 1000
"""The maximum number of locations listed for a feature."""


class Feature(NamedTuple):
    """One feature of a text.

    ngrams : the n-grams of the text that are hashed into its bucket; usually one.
    view, bucket : the feature's view and bucket. value : as it is scored, before scaling to length 1.
    times : the number of occurrences in the text. spans : the first thousand of them, in characters; that of a category
        is empty and at the text's end.
    also : n-grams of other texts that share the bucket, if names are kept.
    """

    ngrams: list[str]
    view: str
    bucket: int
    value: float
    times: int
    spans: list[Span]
    also: list[str]


class TextFeatures:
    """The E features of a text in one view, in order of first occurrence.

    known : int64[m], the features that have a row and so may contribute to scores.
    """

    def __init__(self, view: str, ngrams: Ngrams, buckets: Buckets, index: RowIndex, names: Names) -> None:
        self.view, self.ngrams, self.buckets, self.values = view, ngrams, buckets.buckets, buckets.values
        self._names, self._bits = names, index.bits
        self.known = np.flatnonzero(index.row_of[self.buckets] >= 0)
        order = np.argsort(self.buckets, kind="stable")
        positions = np.searchsorted(self.buckets[order], buckets_of(ngrams.hashes, index.bits))
        self.feature_of: NDArray[np.int64] = order[positions]
        """int64[N], the feature of each n-gram."""
        self.counts: NDArray[np.int64] = np.bincount(self.feature_of, minlength=self.buckets.size)
        """int64[E], the number of n-grams of each feature."""
        self._by_feature = np.argsort(self.feature_of, kind="stable")
        self._ends = np.cumsum(self.counts)

    def features(self, numbers: NDArray[np.int64]) -> list[Feature]:
        """The features with these numbers."""
        others = self._names.of_buckets(self.buckets[numbers].tolist(), self._bits)
        return [self._feature(number, others) for number in numbers.tolist()]

    def unseen(self, most: int) -> list[str]:
        """The first distinct n-grams, up to `most`, that have no row."""
        missing = np.setdiff1d(np.arange(self.buckets.size), self.known, assume_unique=True)[:most]
        return [self.ngrams.ngram(self._occurrences(number)[0]) for number in missing.tolist()]

    def shares(self, added: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[U], the share of each unit of the text in the contributions of the known features, float64[m].

        A contribution is divided equally among the feature's n-grams, and within an n-gram among its units in the text.
        """
        of_features = np.zeros(self.buckets.size)
        of_features[self.known] = added / self.counts[self.known]
        in_text = np.append(0, np.cumsum(self.ngrams.spans[:, 0] < self.ngrams.spans[:, 1]))
        first, end = self.ngrams.first, self.ngrams.first + self.ngrams.size
        share = of_features[self.feature_of] / np.maximum(in_text[end] - in_text[first], 1)
        steps = np.zeros(len(self.ngrams.spans) + 1)
        np.add.at(steps, first, share)
        np.subtract.at(steps, end, share)
        return np.cumsum(steps)[:-1]

    def _feature(self, number: int, others: dict[int, list[str]]) -> Feature:
        bucket, occurrences = int(self.buckets[number]), self._occurrences(number)
        _, firsts = np.unique(self.ngrams.hashes[occurrences], return_index=True)
        ngrams = [self.ngrams.ngram(i) for i in occurrences[np.sort(firsts)].tolist()]
        also = [name for name in others.get(bucket, []) if not any(is_name_of(name, ngram) for ngram in ngrams)]
        spans = self.ngrams.locations(occurrences[:MOST_SPANS])
        return Feature(ngrams, self.view, bucket, float(self.values[number]), occurrences.size, spans, also)

    def _occurrences(self, number: int) -> NDArray[np.int64]:
        """The n-grams of a feature, in order."""
        end = self._ends[number]
        return self._by_feature[end - self.counts[number] : end]
