"""A learner's kernel, entered for one event; see `streamlin.kernel.bound_arguments`."""

from collections.abc import Callable
from operator import is_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundArguments, BoundTuple


class Kernels(NamedTuple):
    """A learner's kernel: for a batch, which gets `*examples, *targets, *arguments, scores`, and entered by `Step`."""

    learn_batch: Callable[..., None]
    learn_event: Callable[..., int]


class Step:
    """Scores one event, then learns it, by a kernel of `BoundTuple`, label code, number of candidates and weight.

    Parameters
    ----------
    examples : the event, whose arrays stay. arguments : the learner's own. n_labels : how many it knows.

    scores : float64[1, n_labels], as the last call set them.
    """

    def __init__(self, examples: Examples, arguments: tuple[Any, ...], n_labels: int) -> None:
        self.scores: NDArray[np.float64] = np.empty((1, n_labels))
        self._examples, self._arguments = examples, arguments
        targets = np.empty(1, np.int32), np.empty(1, np.int64), np.empty(1)
        self._bound = BoundArguments((*examples, *targets, *arguments, self.scores))

    def fits(self, examples: Examples, arguments: tuple[Any, ...], n_labels: int) -> bool:
        """Whether it still is the step of these: the very same arrays."""
        return (
            examples is self._examples
            and n_labels == self.scores.shape[1]
            and all(map(is_, arguments, self._arguments))
        )

    def take(self, kernel: Callable[..., int], code: int, known: int, weight: float) -> int:
        """The best scored label's code; -1 where there is no candidate."""
        best: int = self._bound.call(kernel, code, known, weight)
        return best


@kernel
def aim(event: BoundTuple, code: int, known: int, weight: float) -> None:
    """Set the targets of a step."""
    items = event.items
    items[4][0], items[5][0], items[6][0] = code, known, weight


@kernel
def best_score(event: BoundTuple) -> int:
    """The code of a step's best score, the first of several; of NaN as numpy has it. -1 where there is no candidate."""
    scores = event.items[-1][0]
    best = -1
    for k in range(scores.size):
        if best < 0 or scores[k] > scores[best] or np.isnan(scores[k]):
            best = k
            if np.isnan(scores[k]):
                break
    return best if best < 0 or scores[best] != -np.inf else -1
