"""What a batch of events is to be learned as: label codes, candidates, weights."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import RecordError
from streamlin.events import LabelIndex


class Targets(NamedTuple):
    """The labels of a batch of n events, as each learner's `@kernel` reads them.

    codes : int32[n]; -1 where there is none, or nothing to be learned.
    known : int64[n]; labels that events before event i brought: the candidates for its prediction.
    weights : float64[n], >= 0; what the update is multiplied by.
    """

    codes: NDArray[np.int32]
    known: NDArray[np.int64]
    weights: NDArray[np.float64]


def targets(codes: NDArray[np.int32], weights: NDArray[np.float64], n_known: int) -> Targets:
    """Targets of label codes given in order of first sight, `n_known` of them before this batch."""
    known = np.empty(codes.size + 1, np.int64)
    known[0] = n_known
    np.maximum.accumulate(codes + 1, out=known[1:])
    return Targets(codes, np.maximum(known[:-1], n_known), weights)


def learn_labels(index: LabelIndex, labels: Sequence[str | None], weights: NDArray[np.float64]) -> Targets:
    """Targets of the labels of n events; new ones get codes, but an event of weight 0 neither has nor brings one."""
    n_known = len(index)
    if not weights.all():
        labels = [label if w > 0 else None for label, w in zip(labels, weights, strict=True)]
    return targets(index.learn(labels), weights, n_known)


def no_targets(n: int, n_labels: int) -> Targets:
    """Targets of n events without labels."""
    return Targets(np.full(n, -1, np.int32), np.full(n, n_labels, np.int64), np.ones(n))


def checked_weights(ws: Any) -> NDArray[np.float64]:
    """Numbers as weights float64[n]; raises RecordError for those that can't be one."""
    weights = np.array(ws, np.float64)
    refused = weights[~((weights >= 0) & np.isfinite(weights))]
    if refused.size:
        raise RecordError(f"a weight is {refused[0]}; it must be a finite number, 0 or more")
    return weights
