"""The scores that a tagger compares, as sums of what each feature of a token and each tag beside it adds."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.tagging.sentences import Sentences

Floats = NDArray[np.float32] | NDArray[np.float64]
Places = tuple[int, ...]
"""Places beside a token whose tags are a history, such as (-2, -1); (): the tag alone, before anything is known."""


class Parts(NamedTuple):
    """The scores of K tags for each of a sentence's m tokens, as sums; other tokens keep the tags that were predicted::

        score[t, k] = sum_f features[t, f, k] + sum_c contexts[t, c, k] + sum before[..][t, k] + sum after[..][t, k]

    So it is the score of the whole sentence, or the logarithm of its probability, as far as tag k has a share in it.
    Without `after`, the scores of the predicted tags sum to that of the sentence.

    features : [m, templates, K]; 0 where a feature has no row. contexts : [m, LEVELS, K] of the hidden Markov model;
        [m, 0, K] without it.
    before, after : [m, K] by places: what the tags before say of the tag, and the tag of those behind it.
    considered : bool[m, K], the tags among which the tagger chooses.
    """

    features: Floats
    contexts: Floats
    before: Mapping[Places, Floats]
    after: Mapping[Places, Floats]
    considered: NDArray[np.bool_]


def feature_parts(
    sentences: Sentences, slots: NDArray[np.int32], weights: NDArray[np.float32], n_tags: int
) -> NDArray[np.float32]:
    """float32[m, templates, n_tags]: the weights of each token's features, which are at their `slots`."""
    places = np.where(sentences.rows < 0, np.int32(-1), slots[np.maximum(sentences.rows, 0)])
    found: NDArray[np.float32] = weights[np.maximum(places, 0), :n_tags]
    found[places < 0] = 0.0
    return found


def chain_parts(table: Floats, tags: NDArray[np.int32], n_tags: int) -> tuple[Floats, Floats]:
    """[m, n_tags]: the scores of each tag behind the tag before, and of the tag behind it, in a chain of tags int32[m].

    table : transitions as in `viterbi`.
    """
    before = table[np.append(0, tags[:-1] + 1), :n_tags]
    after = np.zeros_like(before)
    after[:-1] = table[1 : n_tags + 1, tags[1:]].T
    return before, after


def no_contexts(tags: NDArray[np.int32], n_tags: int) -> NDArray[np.float32]:
    """For a tagger without contexts."""
    return np.zeros((tags.size, 0, n_tags), np.float32)


def all_considered(tags: NDArray[np.int32], n_tags: int) -> NDArray[np.bool_]:
    """For a tagger that chooses among all tags."""
    return np.ones((tags.size, n_tags), np.bool_)
