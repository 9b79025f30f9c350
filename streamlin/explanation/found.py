"""What one view finds in a text: its features, each with the n-grams that it stands for and their places."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features import Buckets
from streamlin.features.names import Names, is_name_of
from streamlin.features.ngrams import buckets_of
from streamlin.features.rows import RowIndex
from streamlin.features.walk import Ngrams

Span = tuple[int, int]
MOST_SPANS = 1000
"""Places that are told of a feature."""


class Feature(NamedTuple):
    """One feature of a text.

    ngrams : those of the text that are hashed into its bucket; mostly one.
    view, bucket : where it is kept. value : as it is scored, but for its scaling to length 1.
    times : how often they are in the text. spans : the first thousand places where they are, in characters; that of a
        category is empty and at the text's end.
    also : n-grams of other texts that share the bucket, as far as names are kept.
    """

    ngrams: list[str]
    view: str
    bucket: int
    value: float
    times: int
    spans: list[Span]
    also: list[str]


class Found:
    """The E features of a text in one view, in order of first occurrence.

    known : int64[m], which of them have a row, and so may add to scores.
    """

    def __init__(self, view: str, ngrams: Ngrams, buckets: Buckets, index: RowIndex, names: Names) -> None:
        self.view, self.ngrams, self.buckets, self.values = view, ngrams, buckets.buckets, buckets.values
        self._names, self._bits = names, index.bits
        self.known = np.flatnonzero(index.row_of[self.buckets] >= 0)
        order = np.argsort(self.buckets, kind="stable")
        places = np.searchsorted(self.buckets[order], buckets_of(ngrams.hashes, index.bits))
        self.feature_of: NDArray[np.int64] = order[places]
        """int64[N], the feature that each n-gram counts for."""
        self.counts: NDArray[np.int64] = np.bincount(self.feature_of, minlength=self.buckets.size)
        """int64[E], how many n-grams each feature has."""
        self._by_feature = np.argsort(self.feature_of, kind="stable")
        self._ends = np.cumsum(self.counts)

    def features(self, numbers: NDArray[np.int64]) -> list[Feature]:
        """Some of the E features."""
        others = self._names.of_buckets(self.buckets[numbers].tolist(), self._bits)
        return [self._feature(number, others) for number in numbers.tolist()]

    def unseen(self, most: int) -> list[str]:
        """The first so many n-grams that have no row, none twice."""
        missing = np.setdiff1d(np.arange(self.buckets.size), self.known, assume_unique=True)[:most]
        return [self.ngrams.ngram(self._occurrences(number)[0]) for number in missing.tolist()]

    def shares(self, added: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[U], for each unit of the text its part of what the known features add, float64[m].

        A feature's n-grams have equal parts of it, and so have an n-gram's units that stand in the text.
        """
        of_features = np.zeros(self.buckets.size)
        of_features[self.known] = added / self.counts[self.known]
        stands = np.append(0, np.cumsum(self.ngrams.spans[:, 0] < self.ngrams.spans[:, 1]))
        first, behind = self.ngrams.first, self.ngrams.first + self.ngrams.size
        part = of_features[self.feature_of] / np.maximum(stands[behind] - stands[first], 1)
        steps = np.zeros(len(self.ngrams.spans) + 1)
        np.add.at(steps, first, part)
        np.subtract.at(steps, behind, part)
        return np.cumsum(steps)[:-1]

    def _feature(self, number: int, others: dict[int, list[str]]) -> Feature:
        bucket, occurrences = int(self.buckets[number]), self._occurrences(number)
        _, firsts = np.unique(self.ngrams.hashes[occurrences], return_index=True)
        ngrams = [self.ngrams.ngram(i) for i in occurrences[np.sort(firsts)].tolist()]
        also = [name for name in others.get(bucket, []) if not any(is_name_of(name, ngram) for ngram in ngrams)]
        spans = self.ngrams.places(occurrences[:MOST_SPANS])
        return Feature(ngrams, self.view, bucket, float(self.values[number]), occurrences.size, spans, also)

    def _occurrences(self, number: int) -> NDArray[np.int64]:
        """The n-grams of a feature, in their order."""
        end = self._ends[number]
        return self._by_feature[end - self.counts[number] : end]
