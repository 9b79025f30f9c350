"""The baseline of taggers: each word's commonest tag so far, and for a new word that of all tokens."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.array_state import ArrayState
from streamlin.features.rows import RowIndex
from streamlin.kernel import kernel
from streamlin.storage.arrays import Expected, expected

_BITS = 20
_FEW, _RESERVED = 1 << 10, 1 << 25
"""With more than so many words there is room for so many bytes of counts at once; they take no memory until written."""


class CommonestTag(ArrayState):
    """Predicts before it counts a sentence; of equally common tags the one seen first.

    counts : float64[n_words, n_tags]. tag_counts : float64[n_tags].
    """

    names = ("commonest_tag",)
    arrays = ("buckets", "counts", "tag_counts")

    def __init__(self) -> None:
        self._rows = RowIndex(_BITS)
        self._counts = np.zeros((0, 0))
        self._tops = np.zeros(0, np.int32)
        """The commonest tag of each word, -1 for none: as the counts have it, so that nobody looks at all of them."""
        self.tag_counts = np.zeros(0)

    @property
    def buckets(self) -> NDArray[np.int32]:
        """int32[n_words], the bucket of each word's hash."""
        return self._rows.buckets

    @property
    def counts(self) -> NDArray[np.float64]:
        """The rows of words that were seen."""
        return self._counts[: len(self._rows)]

    def predict(
        self,
        words: NDArray[np.uint32],
        codes: NDArray[np.int32],
        bounds: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_tags: int,
        predicted: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Set predicted int32[m] for the tokens of n sentences; returns bool[m], whether each word was known before.

        words uint32[m]: hashes. codes int32[m]: -1 where the tag is unknown. bounds int64[n + 1]. weights float64[n].
        """
        rows, before = np.empty(words.size, np.int32), np.empty(weights.size, np.int64)
        learned = weights > 0
        has_tag = np.zeros(weights.size, np.bool_)
        tagged = np.flatnonzero(codes >= 0)
        has_tag[np.searchsorted(bounds, tagged, side="right") - 1] = True
        buckets = (words & np.uint32((1 << _BITS) - 1)).astype(np.int32)
        self._rows.assign(bounds, buckets, learned & has_tag, rows, before)
        self._grow(len(self._rows), n_tags)
        known = np.empty(words.size, np.bool_)
        counted = self._counts, self._tops, self.tag_counts
        predict_words(rows, before, codes, bounds, weights, *counted, predicted, known)
        return known

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """See `ArrayState`."""
        return {
            "buckets": self._rows.expected()[0],
            "counts": expected(np.float64, None, n_labels),
            "tag_counts": expected(np.float64, n_labels),
        }

    def is_consistent(self) -> bool:
        """See `ArrayState`."""
        return len(self._counts) == len(self._rows)

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Copy the arrays that `state` returned."""
        self._rows = RowIndex(_BITS)
        self._rows.restore(state["buckets"])
        self._counts, self.tag_counts = state["counts"].copy(), state["tag_counts"].copy()
        self._tops = np.full(len(self._counts), -1, np.int32)
        if self._counts.size:
            self._tops[:] = np.where(self._counts.max(axis=1) > 0, self._counts.argmax(axis=1), -1)

    def _grow(self, n_rows: int, n_tags: int) -> None:
        rows, tags = self._counts.shape
        if n_rows > rows or n_tags > tags:
            more = (
                rows if n_rows <= rows else max(n_rows, 2 * rows, (n_rows > _FEW) * _RESERVED // (8 * max(n_tags, 1)))
            )
            larger = np.zeros((more, max(n_tags, tags)))
            used = min(rows, n_rows)
            larger[:used, :tags] = self._counts[:used]
            self._counts = larger
            self._tops = np.append(self._tops, np.full(len(larger) - rows, -1, np.int32))
            self.tag_counts = np.concatenate([self.tag_counts, np.zeros(max(n_tags - tags, 0))])


@kernel
def predict_words(
    rows: NDArray[np.int32],
    before: NDArray[np.int64],
    codes: NDArray[np.int32],
    bounds: NDArray[np.int64],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    tops: NDArray[np.int32],
    tag_counts: NDArray[np.float64],
    predicted: NDArray[np.int32],
    known: NDArray[np.bool_],
) -> None:
    """Predict, then count, sentence by sentence. tops int32[n_words] : the commonest tag of each row of `counts`."""
    for i in range(weights.size):
        top = commonest(tag_counts)
        for t in range(bounds[i], bounds[i + 1]):
            own = -1
            if 0 <= rows[t] < before[i]:
                own = tops[rows[t]]
            known[t] = own >= 0
            predicted[t] = own if own >= 0 else top
        for t in range(bounds[i], bounds[i + 1]):
            if codes[t] >= 0 and weights[i] > 0.0:
                count_word(counts[rows[t]], rows[t], codes[t], weights[i], tops)
                tag_counts[codes[t]] += weights[i]


@kernel
def count_word(counts: NDArray[np.float64], row: int, y: int, weight: float, tops: NDArray[np.int32]) -> None:
    """Count tag y of a word, and keep its commonest one, of equal ones the first. counts float64[n_tags] : its own."""
    counts[y] += weight
    top = tops[row]
    if top < 0 or counts[y] > counts[top] or (counts[y] == counts[top] and y < top):
        tops[row] = y


@kernel
def commonest(counts: NDArray[np.float64]) -> int:
    """The index of the largest count, the first of equal ones; -1 if all are 0."""
    best = -1
    for k in range(counts.size):
        if counts[k] > 0.0 and (best < 0 or counts[k] > counts[best]):
            best = k
    return best
