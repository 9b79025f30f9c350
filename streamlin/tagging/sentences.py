"""Sentences as taggers read them, and what taggers say of them; all of it columns over the tokens of a batch."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

PART = 256
"""A longer sentence is learned in parts of so many tokens, each behind the tag before it.

One step along the gradient of all of it adds up what many tokens say of the same weight, none of which knows of the
others: after a sentence of 100,000 tokens a conditional random field got a tenth of the following tokens wrong.
"""


class Sentences(NamedTuple):
    """n sentences of m tokens.

    bounds : int64[n + 1]; sentence i has the tokens `bounds[i]` to `bounds[i + 1]`.
    rows : int32[m, templates], the row of each token's features; -1 where a feature has none.
    rows_before : int64[n], the number of rows that the sentences before sentence i brought: rows from there on do not
        count in its prediction, but are learned.
    contexts, contexts_before : int32[m, LEVELS] and int64[n], likewise, for the contexts of the hidden Markov model.
    """

    bounds: NDArray[np.int64]
    rows: NDArray[np.int32]
    rows_before: NDArray[np.int64]
    contexts: NDArray[np.int32]
    contexts_before: NDArray[np.int64]


class TagTargets(NamedTuple):
    """The tags of n sentences of m tokens.

    codes : int32[m]; -1 for a token whose tag is unknown.
    known : int64[n]; the number of tags known before sentence i, which are the candidates for its prediction.
    weights : float64[n], >= 0; of weight 0, a sentence is predicted only.
    """

    codes: NDArray[np.int32]
    known: NDArray[np.int64]
    weights: NDArray[np.float64]


class Tagged(NamedTuple):
    """The predictions for n sentences of m tokens, which taggers fill in.

    tags : int32[m]; -1 where no tag is known yet.
    confidences : float64[n], the probability of the whole sentence's tags; NaN where the tagger has none.
    token_confidences : float32[m], of each token's tag; NaN likewise; of size 0 if nobody asks for it.
    """

    tags: NDArray[np.int32]
    confidences: NDArray[np.float64]
    token_confidences: NDArray[np.float32]


def no_predictions(n: int, tokens: int, token_confidences: bool) -> Tagged:
    """Room for the predictions of n sentences."""
    each = np.full(tokens if token_confidences else 0, np.nan, np.float32)
    return Tagged(np.full(tokens, -1, np.int32), np.full(n, np.nan), each)


@kernel
def longest(sentences: Sentences) -> int:
    """The number of tokens of the longest sentence, at least 1."""
    most = 1
    for i in range(sentences.bounds.size - 1):
        most = max(most, sentences.bounds[i + 1] - sentences.bounds[i])
    return most


@kernel
def known_after(targets: TagTargets, i: int, begin: int, end: int) -> int:
    """The number of tags known once sentence i, tokens `begin` to `end`, is learned; -1 if nothing of it is."""
    most, learned = targets.known[i], False
    if targets.weights[i] <= 0.0:
        return -1
    for t in range(begin, end):
        if targets.codes[t] >= 0:
            learned = True
            most = max(most, targets.codes[t] + 1)
    return most if learned else -1
