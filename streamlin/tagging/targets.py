"""The targets of a batch of sentences, from their tags."""

import numpy as np
from numpy.typing import NDArray

from streamlin.events import Distinct, LabelIndex
from streamlin.tagging.sentences import TagTargets


def learn_tags(
    index: LabelIndex, tags: Distinct, weights: NDArray[np.float64], bounds: NDArray[np.int64]
) -> TagTargets:
    """Targets from the tags of n sentences. New tags get codes; those of a sentence of weight 0 are ignored."""
    known_before = len(index)
    if not weights.all():
        tags = tags.only(np.repeat(weights > 0, np.diff(bounds)))
    codes = tags.coded(index.learn(tags.values))
    return TagTargets(codes, _known(codes, bounds, known_before), weights)


def no_tags(n: int, tokens: int, n_tags: int) -> TagTargets:
    """Targets of n sentences that are predicted only."""
    return TagTargets(np.full(tokens, -1, np.int32), np.full(n, n_tags), np.zeros(n))


def has_tag(codes: NDArray[np.int32], bounds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool[n]: whether a tag of each sentence is known."""
    tagged = np.zeros(codes.size + 1, np.int64)
    np.cumsum(codes >= 0, out=tagged[1:])
    return tagged[bounds[1:]] > tagged[bounds[:-1]]


def _known(codes: NDArray[np.int32], bounds: NDArray[np.int64], known_before: int) -> NDArray[np.int64]:
    """int64[n]: the number of tags known before each sentence; codes number tags by first sight."""
    known = np.full(codes.size + 1, known_before, np.int64)
    np.maximum.accumulate(codes + 1, out=known[1:], dtype=np.int64)
    return np.maximum(known[bounds[:-1]], known_before)
