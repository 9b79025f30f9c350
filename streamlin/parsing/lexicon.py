"""Words and their tags: the counts of the hidden Markov model, and the probability of a word by itself."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.tagging.base import Kind, Tagger
from streamlin.tagging.contexts import ContextCounts, count_tag, set_priors, set_probabilities
from streamlin.tagging.sentences import Sentences
from streamlin.tagging.templates import LEVELS
from streamlin.tagging.viterbi import padded

_SHARE = np.float32(1e-4)
"""A tag is considered if it is at least this probable, beside the most probable one of its word."""


class Lexicon(Tagger):
    """The tables of `streamlin.tagging.hmm.HMM` that say P(tag | word).

    total : float64[2], the weight of all words, and how many different ones there are.
    """

    name = "lexicon"
    kinds: ClassVar[dict[str, Kind]] = {
        "context_counts": "contexts",
        "context_totals": "context",
        "tag_counts": "tags",
        "total": "fixed",
    }

    def __init__(self) -> None:
        super().__init__()
        self.make_tables()
        self.total = np.zeros(2)

    def ratios(self, sentences: Sentences, i: int, n_tags: int, theta: float) -> NDArray[np.float64]:
        """float64[n, n_tags]: P(tag | word) / P(tag) of each word of sentence i; 0 for improbable tags."""
        ratios = np.zeros((int(sentences.bounds[i + 1] - sentences.bounds[i]), n_tags))
        set_ratios(sentences, i, np.float32(theta), self._counted(), ratios)
        return ratios

    def log_probability(self, sentences: Sentences, i: int, bits: int) -> float:
        """The logarithm of the probability of sentence i's words, one by one; they are hashed to 2^bits buckets."""
        return log_of_words(sentences, i, 2.0**-bits, self._counted())

    def learn(self, sentences: Sentences, i: int, codes: NDArray[np.int32], weight: float) -> None:
        """Count sentence i, whose tags are codes[bounds[i] : bounds[i + 1]]."""
        count_words(sentences, i, codes, np.float32(weight), self._counted())

    def _counted(self) -> ContextCounts:
        return ContextCounts(*self.arrays_of(tuple(self.tables)))


@kernel
def set_ratios(
    sentences: Sentences, i: int, theta: np.float32, counted: ContextCounts, ratios: NDArray[np.float64]
) -> None:
    """See `Lexicon.ratios`."""
    n_tags = ratios.shape[1]
    width = padded(n_tags)
    priors, p = np.empty(width, np.float32), np.empty(width, np.float32)
    set_priors(counted, n_tags, width, priors)
    for t in range(ratios.shape[0]):
        set_probabilities(counted, sentences, i, sentences.bounds[i] + t, theta, width, priors, p)
        least = p[:n_tags].max() * _SHARE
        for k in range(n_tags):
            if p[k] >= least:
                ratios[t, k] = np.float64(p[k]) / np.float64(priors[k])


@kernel
def log_of_words(sentences: Sentences, i: int, uniform: float, counted: ContextCounts) -> float:
    """Sum of log (N(w) + T uniform) / (N + T), for T different words: Witten, Bell, IEEE Transactions on Information
    Theory 37 (1991) 1085-1094, method C."""
    weight, different = counted.total[0], counted.total[1]
    found = 0.0
    for t in range(sentences.bounds[i], sentences.bounds[i + 1]):
        row = sentences.contexts[t, LEVELS - 1]
        count = np.float64(counted.totals[row]) if row >= 0 else 0.0
        found += np.log((count + different * uniform) / (weight + different))
    return found


@kernel
def count_words(
    sentences: Sentences, i: int, codes: NDArray[np.int32], weight: np.float32, counted: ContextCounts
) -> None:
    """See `Lexicon.learn`."""
    for t in range(sentences.bounds[i], sentences.bounds[i + 1]):
        word = sentences.contexts[t, LEVELS - 1]
        counted.total[1] += word < 0 or counted.totals[word] == 0.0
        count_tag(counted, sentences.contexts[t], codes[t], weight)
