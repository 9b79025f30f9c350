"""The multiclass perceptron.

Rosenblatt (1958); Eisenstein, Linear Models for Statistical NLP (2014), section 3; Collins, EMNLP 2002.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.features import View
from streamlin.features.rows import Examples, prefetch_rows
from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundTuple
from streamlin.kernel.late import late_kernel
from streamlin.learners.base import Learner
from streamlin.learners.by_key import KeyedEvents, of_key
from streamlin.learners.linear import add_scaled, best_other, linear_scores
from streamlin.learners.mixing import Change, add_mean, add_means
from streamlin.learners.parameters import checked
from streamlin.learners.step import Kernels, best_score, set_targets
from streamlin.learners.targets import Targets


@late_kernel
def learn_batch(
    indptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    rows_before: NDArray[np.int64],
    codes: NDArray[np.int32],
    n_known: NDArray[np.int64],
    event_weights: NDArray[np.float64],
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event; weights [n_rows, n_labels] and bias [n_labels] are changed in place."""
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    for i in range(targets.codes.size):
        prefetch_rows(examples, i + 1, weights)
        linear_scores(examples, i, weights, bias, 1.0, targets.known[i], scores[i])
        y = np.int64(targets.codes[i])
        guess = best_other(scores[i], -1)
        if y < 0 or guess < 0 or guess == y:
            continue
        add_scaled(examples, i, targets.weights[i], weights, bias, y)
        add_scaled(examples, i, -targets.weights[i], weights, bias, guess)


@kernel
def learn_event(event: BoundTuple, code: int, known: int, weight: float) -> int:
    """`learn_batch` for one event; see `Step`."""
    set_targets(event, code, known, weight)
    learn_batch(*event.items)
    return best_score(event)


@kernel
def learn_keyed(events: KeyedEvents, arguments: tuple[Any, ...], scores: NDArray[np.float64]) -> None:
    """`learn_batch` for each key, with its tables; see `streamlin.learners.by_key`."""
    for key in range(events.slots.size):
        learn_batch(*of_key(events, key, arguments, scores))


class Perceptron(Learner):
    """The multiclass perceptron.

    For an example x (its bias feature included) of weight w with label y and prediction k = argmax W_k.x::

        k != y:   W_y += w x,   W_k -= w x

    Parameters
    ----------
    features : see `Learner`.

    Attributes
    ----------
    weights : W, the weight of each feature for each label.
    bias : the weights of the feature that is always on.
    """

    name = "perceptron"
    tables = ("weights", "bias")
    kernels = Kernels(learn_batch, learn_event, learn_keyed)

    @checked
    def __init__(self, features: View | Sequence[View] | None = None) -> None:
        super().__init__(features)
        self.weights = np.zeros((0, 0), np.float32)
        self.bias = np.zeros(0, np.float32)

    @property
    def prior_step(self) -> float:
        return 1.0

    def mix(self, changes: Sequence[Change]) -> None:
        """The mean of the changes of a row, over the shards that changed it.

        McDonald, Hall, Mann, NAACL 2010, 456-464, iterative parameter mixing; their uniform mean would divide by the
        number of all shards what only one of them knew.
        """
        add_means(self.weights, changes, "weights")
        add_mean(self.bias, changes, "bias")

    def arguments(self) -> tuple[Any, ...]:
        return self.weights, self.bias
