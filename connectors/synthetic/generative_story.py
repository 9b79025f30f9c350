"""The generative story of multinomial naive Bayes: a label from a prior, then words from that label's distribution.

All labels share one Zipf distribution over ranks, and differ in which word has which rank::

    y ~ prior,   r_1, …, r_n ~ shares,   w_i = orders[y, r_i],   shares_r ∝ 1 / (r + 1)^zipf

so that P(w | k) is known for every word, and with it the prediction that nothing beats.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Drift:
    """A new concept replaces the old one: label k then draws from the word distribution of label k + 1, the last label
    from that of label 0.

    at : the number of the first event that can be of the new concept.
    over : the number of events over which its probability grows from 0 to 1; 0 for a sudden change.
    """

    at: int
    over: int = 0

    def progress(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """λ, the probability of the new concept: 0 up to event `at` - 1, 1 from `at + over` on, linear between."""
        progress: NDArray[np.float64] = np.clip((numbers + 1 - self.at) / (self.over + 1), 0.0, 1.0)
        return progress


class Draw(NamedTuple):
    """n events: labels int64[n], words int32[n, length], and the Bayes-optimal predictions int64[n]."""

    labels: NDArray[np.int64]
    words: NDArray[np.int32]
    optimal: NDArray[np.int64]


@dataclass(frozen=True)
class Story:
    """The true parameters of a stream of K labels over V words.

    prior : float64[K], P(k), sums to 1.
    shares : float64[V], the share of the word at rank r, sums to 1.
    orders : int32[K, V], label k's word at rank r; each row a permutation of 0 … V - 1.
    length : the number of words in a text.
    drift : when and how the concept changes; None for no drift.
    """

    prior: NDArray[np.float64]
    shares: NDArray[np.float64]
    orders: NDArray[np.int32]
    length: int
    drift: Drift | None = None

    @cached_property
    def log_likelihoods(self) -> NDArray[np.float64]:
        """float64[V, K], log P(w | k) under the old concept."""
        table = np.empty(self.orders.shape[::-1])
        np.put_along_axis(table, self.orders.T.astype(np.int64), np.log(self.shares)[:, None], axis=0)
        return table

    @cached_property
    def _draw_labels(self) -> "Categories":
        return Categories(self.prior)

    @cached_property
    def _draw_ranks(self) -> "Categories":
        return Categories(self.shares)

    def draw(self, numbers: NDArray[np.int64], randomness: np.random.Generator) -> Draw:
        """Draw the events with these numbers, int64[n]; the same randomness gives the same events."""
        labels = self._draw_labels(randomness.random(numbers.size))
        of_new = randomness.random(numbers.size) < self._progress(numbers)
        origins = (labels + of_new) % self.prior.size
        ranks = self._draw_ranks(randomness.random((numbers.size, self.length)))
        words = self.orders[origins[:, None], ranks]
        return Draw(labels, words, self.optimal(words, numbers))

    def optimal(self, words: NDArray[np.int32], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64[n], the most probable label of each text, int32[n, length], given all parameters::

            argmax_k P(k) ((1 - λ) Π_i P(w_i | k) + λ Π_i P(w_i | k + 1))

        λ is the drift's progress at the event's number; all words of a text are drawn from one concept.
        """
        scores = np.zeros((len(words), self.prior.size))
        for column in words.T:
            scores += self.log_likelihoods[column]
        progress = self._progress(numbers)
        if progress.any():
            with np.errstate(divide="ignore"):  # log 0: that concept has no weight
                old, new = np.log1p(-progress)[:, None], np.log(progress)[:, None]
            scores = np.logaddexp(old + scores, new + np.roll(scores, -1, axis=1))
        best: NDArray[np.int64] = (scores + np.log(self.prior)).argmax(axis=1)
        return best

    def _progress(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.zeros(numbers.size) if self.drift is None else self.drift.progress(numbers)


def zipf_shares(count: int, exponent: float) -> NDArray[np.float64]:
    """float64[count], proportional to 1 / (rank + 1)^exponent, summing to 1."""
    shares: NDArray[np.float64] = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    shares /= shares.sum()
    return shares


def shifted_orders(
    labels: int, vocabulary: int, separation: float, randomness: np.random.Generator
) -> NDArray[np.int32]:
    """int32[labels, vocabulary]: each label's words by rank, from the most frequent on.

    Each label ranks the words by log(word + 1) + separation * z, with a standard normal z for each word. A word's rank
    changes by a factor, so that frequent words stay frequent. With separation 0 all labels are the same.
    """
    heights = np.log(np.arange(1, vocabulary + 1))
    orders = np.empty((labels, vocabulary), np.int32)
    for order in orders:
        order[:] = np.argsort(heights + separation * randomness.standard_normal(vocabulary), kind="stable")
    return orders


class Categories:
    """Draws from a categorical distribution by an inverse-CDF search with an index: cells of [0, 1) that belong to one
    category need no search. H.-C. Chen, Y. Asau, AIIE Transactions 6 (1974) 163-166.

    probabilities : float64[n], summing to 1.
    """

    _CELLS = 2**18  # a power of two, so that finding a number's cell is exact

    def __init__(self, probabilities: NDArray[np.float64]) -> None:
        self._bounds = np.cumsum(probabilities)[:-1]  # the last category extends to 1 despite rounding
        self._index = self._search(np.arange(self._CELLS + 1) / self._CELLS)

    def __call__(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """The category of each number in [0, 1); any shape."""
        cells = (uniforms * self._CELLS).astype(np.int64)
        categories = self._index[cells]
        shared = categories != self._index[cells + 1]
        categories[shared] = self._search(uniforms[shared])
        return categories

    def _search(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.searchsorted(self._bounds, uniforms, side="right")
