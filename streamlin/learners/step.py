"""Calls of a learner's kernel for one event, with bound arguments; see `streamlin.kernel.bound_arguments`."""

from collections.abc import Callable
from operator import is_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundArguments, BoundTuple


class Kernels(NamedTuple):
    """A learner's kernels: one for batches, called with `*examples, *targets, *arguments, scores`; one for `Step`.

    learn_keyed : for events of many keys, see `streamlin.learners.by_key`; None: it can't learn a model per key.
    """

    learn_batch: Callable[..., None]
    learn_event: Callable[..., int]
    learn_keyed: Callable[..., None] | None = None


class Step:
    """Scores, then learns, one event after another in the same arrays.

    Parameters
    ----------
    examples : the arrays of the event, filled anew for each one. arguments : those of the learner.
    n_labels : the number of labels it knows.

    Attributes
    ----------
    scores : float64[1, n_labels], set by the last call.
    """

    def __init__(self, examples: Examples, arguments: tuple[Any, ...], n_labels: int) -> None:
        self.scores: NDArray[np.float64] = np.empty((1, n_labels))
        self._examples, self._arguments = examples, arguments
        targets = np.empty(1, np.int32), np.empty(1, np.int64), np.empty(1)
        self._bound = BoundArguments((*examples, *targets, *arguments, self.scores))

    def fits(self, examples: Examples, arguments: tuple[Any, ...], n_labels: int) -> bool:
        """Whether the step was made for these very arrays, and this number of labels."""
        return (
            examples is self._examples
            and n_labels == self.scores.shape[1]
            and all(map(is_, arguments, self._arguments))
        )

    def run(self, kernel: Callable[..., int], code: int, known: int, weight: float) -> int:
        """Call a `learn_event` kernel; returns the code of the best scored label, -1 if no label is known.

        code : the event's label, -1 for none. known : the number of candidates. weight : the event's.
        """
        best: int = self._bound.call(kernel, code, known, weight)
        return best


@kernel
def set_targets(event: BoundTuple, code: int, known: int, weight: float) -> None:
    """Set the targets of a step's event."""
    items = event.items
    items[4][0], items[5][0], items[6][0] = code, known, weight


@kernel
def best_score(event: BoundTuple) -> int:
    """The code of the best score, the first of equal ones or NaN, as numpy's argmax; -1 if no label is known."""
    scores = event.items[-1][0]
    best = -1
    for k in range(scores.size):
        if best < 0 or scores[k] > scores[best] or np.isnan(scores[k]):
            best = k
            if np.isnan(scores[k]):
                break
    return best if best < 0 or scores[best] != -np.inf else -1
