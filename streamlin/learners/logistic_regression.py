"""Multinomial logistic regression with Adagrad steps.

Duchi, Hazan, Singer, JMLR 12 (2011) 2121-2159, the diagonal form of figure 1; the gradient as in Eisenstein, Linear
Models for Statistical NLP (2014), section 4.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamlin.features import View
from streamlin.features.rows import Examples, prefetch_rows
from streamlin.kernel import inlined_kernel, kernel
from streamlin.kernel.bound_arguments import BoundTuple
from streamlin.kernel.late import beside, late_kernel
from streamlin.learners import by_numpy
from streamlin.learners.base import Learner
from streamlin.learners.by_key import KeyedEvents, of_key
from streamlin.learners.linear import adagrad_step, best_other, linear_scores, scale_to_one, softmax_errors
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
    by_feature: bool,
    damping: float,
    least_error: float,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    squares: NDArray[np.float64],
    bias_squares: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event.

    weights [n_rows, n_labels], bias [n_labels] : changed in place.
    squares, bias_squares : likewise; the sums of squared gradients, by feature only in their first column.
    """
    bias_row, bias_squares_row = bias[np.newaxis], bias_squares[np.newaxis]
    examples, targets = Examples(indptr, rows, values, rows_before), Targets(codes, n_known, event_weights)
    errors = np.empty(scores.shape[1])
    for i in range(targets.codes.size):
        prefetch_rows(examples, i + 1, weights)
        prefetch_rows(examples, i + 1, squares)
        s, known = scores[i], targets.known[i]
        scale = scale_to_one(examples, i) if normalize else 1.0
        linear_scores(examples, i, weights, bias, scale, known, s)
        y = targets.codes[i]
        if y < 0 or best_other(s, y) < 0:
            continue
        n_labels = softmax_errors(s, known, y, errors)
        if least_error > 0.0 and squared_length_of(errors, n_labels) < least_error:
            continue
        squared_errors = 0.0
        for k in range(n_labels):
            errors[k] *= targets.weights[i]
            squared_errors += errors[k] * errors[k]
        if by_feature:
            steps_by_feature(
                examples, i, scale, errors, n_labels, squared_errors, eta, epsilon, damping, weights, squares
            )
            shared_steps(errors, n_labels, squared_errors, 0, 1.0, eta, epsilon + damping, bias_row, bias_squares_row)
        else:
            steps_by_weight(examples, i, scale, errors, n_labels, eta, epsilon, damping, weights, squares)
            adagrad_steps(errors, n_labels, 0, 1.0, eta, epsilon + damping, bias_row, bias_squares_row)


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


@inlined_kernel
@beside(by_numpy.steps_by_feature)
def steps_by_feature(
    examples: Examples,
    i: int,
    scale: float,
    errors: NDArray[np.float64],
    n_labels: int,
    squared_errors: float,
    eta: float,
    epsilon: float,
    damping: float,
    weights: NDArray[np.float32],
    squares: NDArray[np.float64],
) -> None:
    """The steps of event i's features, with one sum of squares for all labels of a feature."""
    for j in range(examples.indptr[i], examples.indptr[i + 1]):
        x = scale * examples.values[j]
        added = epsilon + damping * (x * x)
        shared_steps(errors, n_labels, squared_errors, examples.rows[j], x, eta, added, weights, squares)


@inlined_kernel
@beside(by_numpy.steps_by_weight)
def steps_by_weight(
    examples: Examples,
    i: int,
    scale: float,
    errors: NDArray[np.float64],
    n_labels: int,
    eta: float,
    epsilon: float,
    damping: float,
    weights: NDArray[np.float32],
    squares: NDArray[np.float64],
) -> None:
    """The same with a sum for each weight."""
    for j in range(examples.indptr[i], examples.indptr[i + 1]):
        x = scale * examples.values[j]
        added = epsilon + damping * (x * x)
        adagrad_steps(errors, n_labels, examples.rows[j], x, eta, added, weights, squares)


@kernel
def adagrad_steps(
    errors: NDArray[np.float64],
    n_labels: int,
    row: int,
    x: float,
    eta: float,
    epsilon: float,
    weights: NDArray[np.float32],
    squares: NDArray[np.float64],
) -> None:
    """The step of one feature for all labels, with gradients errors_k x."""
    # Tables are indexed by row and label: a view of the row would cost more than the step.
    for k in range(n_labels):
        adagrad_step(errors[k] * x, row, k, eta, epsilon, weights, squares)


@kernel
def shared_steps(
    errors: NDArray[np.float64],
    n_labels: int,
    squared_errors: float,
    row: int,
    x: float,
    eta: float,
    epsilon: float,
    weights: NDArray[np.float32],
    squares: NDArray[np.float64],
) -> None:
    """The same with one sum of squares for all labels: the squared length of the gradient over labels."""
    squares[row, 0] += squared_errors * (x * x)
    step = eta * x / np.sqrt(squares[row, 0] + epsilon)
    for k in range(n_labels):
        weights[row, k] -= step * errors[k]


@kernel
def squared_length_of(errors: NDArray[np.float64], n: int) -> float:
    """The sum of the first n squared errors."""
    total = 0.0
    for k in range(n):
        total += errors[k] * errors[k]
    return total


class LogisticRegression(Learner):
    """Multinomial logistic regression with steps scaled by Adagrad.

    For an example x of weight w with label y, the softmax p of W_k.x + b_k, and e_k = w (p_k - [k = y])::

        weight    g_kj = e_k x_j;   G_kj += g_kj^2,                W_kj -= eta g_kj / sqrt(G_kj + epsilon)
        feature   g_kj = e_k x_j;   G_j  += x_j^2 sum_k e_k^2,     W_kj -= eta g_kj / sqrt(G_j + epsilon)

    With a sum for each weight, all labels take a full step when a feature is first seen, however small their errors.
    One sum for each feature suits many labels: it is faster, smaller, and mostly more accurate.

    With damping, epsilon becomes epsilon + damping x_j^2: the first step of a feature then shrinks with the error. With
    a least error, nothing is learned from an event with sum_k (p_k - [k = y])^2 below it.

    Parameters
    ----------
    eta : the step size: 0.45 suits normalised values, 0.1 raw ones; 1 suits normalised ones with `squares = "feature"`.
    epsilon : added to each sum of squared gradients; keeps the first step finite.
    normalize : scale a text's values, without the bias, to length 1; of several views, those of each.
    squares : `"weight"`: one sum of squared gradients for each weight; `"feature"`: one for all labels of a feature,
        which is faster, smaller and mostly more accurate with many labels.
    damping : makes the first steps of a feature the smaller, the smaller the error; 0.1 suits `squares = "feature"`.
        Without it the first step is full, whatever the error.
    least_error : nothing is learned from an event whose squared errors sum to less; 0.001 saves a third of the time
        where most events are right by far. Without it all are learned.
    features : see `Learner`.

    Attributes
    ----------
    weights : W, the weight of each feature for each label.
    bias : the weights of the feature that is always on.
    gradient_squares : G, the sums of squared gradients; `[rows, 1]` with `squares = "feature"`.
    bias_squares : G of the bias.

    Raises
    ------
    ConfigError : a parameter is outside its limits.
    """

    name = "logistic_regression"
    tables = ("weights", "bias", "gradient_squares", "bias_squares")
    kernels = Kernels(learn_batch, learn_event, learn_keyed)

    @checked
    def __init__(
        self,
        eta: Positive = 0.45,
        epsilon: Positive = 1e-10,
        normalize: bool = True,
        squares: Literal["weight", "feature"] = "weight",
        damping: Positive | None = None,
        least_error: Positive | None = None,
        features: View | Sequence[View] | None = None,
    ) -> None:
        super().__init__(features)
        self.eta, self.epsilon, self.normalize, self.squares = eta, epsilon, normalize, squares
        self.damping, self.least_error = damping, least_error
        by_feature = squares == "feature"
        self.shared = ("gradient_squares",) if by_feature else ()
        self.weights, self.gradient_squares = np.zeros((0, 0), np.float32), np.zeros((0, int(by_feature)))
        self.bias, self.bias_squares = np.zeros(0, np.float32), np.zeros(0)

    @property
    def prior_step(self) -> float:
        """The first step of Adagrad: eta, or with damping that at an error of 1."""
        return self.eta / math.sqrt(1.0 + (self.damping or 0.0))

    def mix(self, changes: Sequence[Change]) -> None:
        """Changes of W, weighted by each shard's own squared gradients; see `add_weighted`.

        Agarwal and others, JMLR 15 (2014) 1111-1133, weigh the weights themselves so.
        """
        add_weighted(self.weights, self.gradient_squares, changes, ("weights", "gradient_squares"))
        bias_squares = self.bias_squares[:1] if self.squares == "feature" else self.bias_squares
        add_weighted(self.bias, bias_squares, changes, ("bias", "bias_squares"))

    def arguments(self) -> tuple[Any, ...]:
        return (
            self.eta,
            self.epsilon,
            self.scales,
            self.squares == "feature",
            self.damping or 0.0,
            self.least_error or 0.0,
            self.weights,
            self.bias,
            self.gradient_squares,
            self.bias_squares,
        )
