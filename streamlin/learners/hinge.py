"""A linear support vector machine by Adagrad: the multiclass hinge loss.

Crammer, Singer, JMLR 2 (2001) 265-292, for the loss; Duchi, Hazan, Singer, JMLR 12 (2011) 2121-2159, for the steps.
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
from streamlin.learners.linear import adagrad_step, best_other, linear_scores, scale_to_one
from streamlin.learners.mixing import Change, add_weighted
from streamlin.learners.parameters import Positive, checked
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
    eta: float,
    epsilon: float,
    normalize: bool,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    squares: NDArray[np.float64],
    bias_squares: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event.

    weights [n_rows, n_labels], bias [n_labels] : changed in place.
    squares, bias_squares : likewise; the sums of squared gradients.
    """
    bias_row, bias_squares_row = bias[np.newaxis], bias_squares[np.newaxis]
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    for i in range(targets.codes.size):
        prefetch_rows(examples, i + 1, weights)
        prefetch_rows(examples, i + 1, squares)
        s, known = scores[i], targets.known[i]
        scale = scale_to_one(examples, i) if normalize else 1.0
        linear_scores(examples, i, weights, bias, scale, known, s)
        y = targets.codes[i]
        rival = best_other(s, y)
        if y < 0 or rival < 0:
            continue
        if 1.0 + s[rival] - (s[y] if y < known else 0.0) <= 0.0:  # a label that the event itself brings has score 0
            continue
        w = targets.weights[i]
        for j in range(examples.indptr[i], examples.indptr[i + 1]):
            gradient = w * (scale * np.float64(examples.values[j]))
            adagrad_step(-gradient, examples.rows[j], y, eta, epsilon, weights, squares)
            adagrad_step(gradient, examples.rows[j], rival, eta, epsilon, weights, squares)
        adagrad_step(-w, 0, y, eta, epsilon, bias_row, bias_squares_row)
        adagrad_step(w, 0, rival, eta, epsilon, bias_row, bias_squares_row)


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


class Hinge(Learner):
    """A linear support vector machine with steps scaled by Adagrad.

    For an example x with label y, and the best scored other label r; if 1 - s_y + s_r > 0::

        g_yj = -w x_j,   g_rj = w x_j
        G_kj += g_kj^2
        W_kj -= eta g_kj / sqrt(G_kj + epsilon)

    Parameters
    ----------
    eta : the step size: 0.45 suits normalised values, 0.1 raw ones.
    epsilon : added to each sum of squared gradients; keeps the first step finite.
    normalize : scale a text's values, without the bias, to length 1; of several views, those of each.
    features : see `Learner`.

    Attributes
    ----------
    weights : W, the weight of each feature for each label.
    bias : the weights of the feature that is always on.
    squares : G, the sums of squared gradients.
    bias_squares : G of the bias.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "hinge"
    tables = ("weights", "bias", "squares", "bias_squares")
    kernels = Kernels(learn_batch, learn_event, learn_keyed)

    @checked
    def __init__(
        self,
        eta: Positive = 0.45,
        epsilon: Positive = 1e-10,
        normalize: bool = True,
        features: View | Sequence[View] | None = None,
    ) -> None:
        super().__init__(features)
        self.eta, self.epsilon, self.normalize = eta, epsilon, normalize
        self.weights, self.squares = np.zeros((0, 0), np.float32), np.zeros((0, 0))
        self.bias, self.bias_squares = np.zeros(0, np.float32), np.zeros(0)

    @property
    def prior_step(self) -> float:
        """The first step of Adagrad, whatever the gradient."""
        return self.eta

    def mix(self, changes: Sequence[Change]) -> None:
        """The rule of logistic regression, which takes the same steps; see `add_weighted`."""
        add_weighted(self.weights, self.squares, changes, ("weights", "squares"))
        add_weighted(self.bias, self.bias_squares, changes, ("bias", "bias_squares"))

    def arguments(self) -> tuple[Any, ...]:
        return self.eta, self.epsilon, self.scales, self.weights, self.bias, self.squares, self.bias_squares
