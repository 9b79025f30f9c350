"""The targets of a batch of events: label codes, candidates, weights."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import RecordError
from streamlin.events import MAX_WEIGHT, LabelIndex

NOT_LEARNED, UNLABELLED = -1, -2
"""Codes of events without a label: nothing is learned, or the text alone."""


class Targets(NamedTuple):
    """The labels of a batch of n events, as each learner's `@kernel` reads them.

    codes : int32[n]; -1 for an event without a label, or from which nothing is learned. Learners with
        `learns_unlabelled` get -2 for an event whose text is learned without a label.
    known : int64[n]; the number of labels known before event i, which are the candidates for its prediction.
    weights : float64[n], >= 0; each multiplies the update by its event.
    """

    codes: NDArray[np.int32]
    known: NDArray[np.int64]
    weights: NDArray[np.float64]


def targets(codes: NDArray[np.int32], weights: NDArray[np.float64], n_known: int) -> Targets:
    """Targets from label codes, which number labels by first sight; `n_known` were known before this batch."""
    known = np.empty(codes.size + 1, np.int64)
    known[0] = n_known
    np.maximum.accumulate(codes + 1, out=known[1:])
    return Targets(codes, np.maximum(known[:-1], n_known), weights)


def learn_labels(index: LabelIndex, labels: Sequence[str | None], weights: NDArray[np.float64]) -> Targets:
    """Targets from the labels of n events. New labels get codes; the label of an event of weight 0 is ignored."""
    n_known = len(index)
    if not weights.all():
        labels = [label if w > 0 else None for label, w in zip(labels, weights, strict=True)]
    return targets(index.learn(labels), weights, n_known)


def with_unlabelled(goals: Targets, unlabelled: NDArray[np.bool_]) -> Targets:
    """The targets for learners with `learns_unlabelled`; unlabelled bool[n]: events that have no label, or await none.

    Nothing is learned from them while no label is known, or if their weight is 0.
    """
    learned = unlabelled & (goals.codes < 0) & (goals.known > 0) & (goals.weights > 0)
    return goals._replace(codes=np.where(learned, np.int32(UNLABELLED), goals.codes))


def without_label(labels: Sequence[Any]) -> NDArray[np.bool_]:
    """bool[n]: which events have no label."""
    if None not in labels:
        return np.zeros(len(labels), np.bool_)
    return np.fromiter((label is None for label in labels), np.bool_, len(labels))


def no_targets(n: int, n_labels: int) -> Targets:
    """Targets of n events without labels."""
    return Targets(np.full(n, -1, np.int32), np.full(n, n_labels, np.int64), np.ones(n))


def checked_weights(ws: Any) -> NDArray[np.float64]:
    """Weights as float64[n]. Raises RecordError for one that is not from 0 to `MAX_WEIGHT`."""
    weights = np.array(ws, np.float64)
    refused = weights[~((weights >= 0) & (weights <= MAX_WEIGHT))]
    if refused.size:
        raise RecordError(f"invalid weight {refused[0]}: expected a number from 0 to {MAX_WEIGHT:g}")
    return weights
