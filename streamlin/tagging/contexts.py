"""Counts of tags by context, from a word's shape to the word itself, and the probabilities they give.

Each context's probabilities are drawn towards those of the context before, the chain of `templates.context_buckets`
(MacKay, Peto, Natural Language Engineering 1 (1995) 289-307)::

    P(k | c) = (N(c, k) + theta P(k | parent of c)) / (N(c) + theta)
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.tagging.sentences import Sentences
from streamlin.tagging.templates import LEVELS

RARE = 10.0
"""The contexts above the word count only words seen less often: frequent words say nothing of new ones."""


THETA = np.float32(1.0)
"""How much a context is drawn towards its parent; larger is slower to trust it."""


class ContextCounts(NamedTuple):
    """What was counted; changed in place.

    counts : float32[n_contexts, tags], N(c, k). totals : float32[n_contexts], N(c). tags : float32[tags], N(k).
    total : float64[1], N.
    """

    counts: NDArray[np.float32]
    totals: NDArray[np.float32]
    tags: NDArray[np.float32]
    total: NDArray[np.float64]


NO_COUNTS = ContextCounts(np.zeros((0, 0), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32), np.zeros(1))
"""For a kernel that does without."""


@kernel
def set_priors(counted: ContextCounts, n_tags: int, width: int, priors: NDArray[np.float32]) -> None:
    """Set priors[:width] to P(k): one observation, spread over all tags, is added."""
    uniform, inverse = np.float32(1.0 / n_tags), np.float32(1.0 / (counted.total[0] + 1.0))
    for k in range(width):
        priors[k] = (counted.tags[k] + uniform) * inverse


@kernel
def set_probabilities(
    counted: ContextCounts,
    sentences: Sentences,
    i: int,
    token: int,
    theta: np.float32,
    width: int,
    priors: NDArray[np.float32],
    p: NDArray[np.float32],
) -> None:
    """Set p[:width] to P(k | the word of sentence i's token `token`)."""
    for k in range(width):
        p[k] = priors[k]
    for level in range(LEVELS):
        row = sentences.contexts[token, level]
        if 0 <= row < sentences.contexts_before[i] and counted.totals[row] > 0.0:
            c, inverse = counted.counts[row], np.float32(1.0) / (counted.totals[row] + theta)
            for k in range(width):
                p[k] = (c[k] + theta * p[k]) * inverse


def level_probabilities(
    counted: ContextCounts, contexts: NDArray[np.int32], theta: float, n_tags: int
) -> NDArray[np.float32]:
    """float32[LEVELS + 1, m, n_tags]: P(k), then P(k | the contexts up to each level), for tokens of one sentence.

    contexts int32[m, LEVELS] : their rows. The last level is what `set_probabilities` sets.
    """
    p = np.empty((LEVELS + 1, len(contexts), n_tags), np.float32)
    set_priors(counted, n_tags, n_tags, p[0, 0])
    p[0] = p[0, 0]
    for level in range(LEVELS):
        rows = np.maximum(contexts[:, level], 0)
        totals = np.where(contexts[:, level] < 0, np.float32(0.0), counted.totals[rows])[:, None]
        drawn = (counted.counts[rows, :n_tags] + np.float32(theta) * p[level]) / (totals + np.float32(theta))
        p[level + 1] = np.where(totals > 0, drawn, p[level])
    return p


@kernel
def count_tag(counted: ContextCounts, contexts: NDArray[np.int32], y: int, weight: np.float32) -> None:
    """Count a token with tag y. contexts int32[LEVELS]: its rows."""
    word = contexts[LEVELS - 1]
    if word < 0 or counted.totals[word] < RARE:
        for level in range(LEVELS - 1):
            if contexts[level] >= 0:
                counted.counts[contexts[level], y] += weight
                counted.totals[contexts[level]] += weight
    if word >= 0:
        counted.counts[word, y] += weight
        counted.totals[word] += weight
    counted.tags[y] += weight
    counted.total[0] += weight
