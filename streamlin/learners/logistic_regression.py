"""Multinomial logistic regression with Adagrad steps.

Duchi, Hazan, Singer, JMLR 12 (2011) 2121-2159, the diagonal form of figure 1; the gradient as in Eisenstein, Linear
Models for Statistical NLP (2014), section 4.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.features import View
from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.learners.base import Learner, Targets
from streamlin.learners.linear import best_other, linear_scores, squared_length


@kernel
def learn_batch(
    examples: Examples,
    targets: Targets,
    eta: float,
    epsilon: float,
    normalize: bool,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    squares: NDArray[np.float64],
    bias_squares: NDArray[np.float64],
    errors: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Score, then learn, event by event.

    weights [n_rows, n_labels], bias [n_labels] : changed in place.
    squares, bias_squares : likewise, the sums of squared gradients. errors [n_labels] : scratch.
    """
    bias_row, bias_squares_row = bias.reshape(1, -1), bias_squares.reshape(1, -1)
    for i in range(targets.codes.size):
        s, known = scores[i], targets.known[i]
        scale = 1.0
        if normalize:
            squared_norm = squared_length(examples, i)
            if squared_norm > 0.0:
                scale = 1.0 / np.sqrt(squared_norm)
        linear_scores(examples, i, weights, bias, scale, known, s)
        y = targets.codes[i]
        if y < 0 or best_other(s, y) < 0:
            continue
        n_labels = softmax_errors(s, known, y, errors)
        for k in range(n_labels):
            errors[k] *= targets.weights[i]
        for j in range(examples.indptr[i], examples.indptr[i + 1]):
            x = scale * examples.values[j]
            adagrad_step(errors, n_labels, examples.rows[j], x, eta, epsilon, weights, squares)
        adagrad_step(errors, n_labels, 0, 1.0, eta, epsilon, bias_row, bias_squares_row)


@kernel
def softmax_errors(scores: NDArray[np.float64], known: int, y: int, errors: NDArray[np.float64]) -> int:
    """Set errors[k] = p_k - [k = y], return their number; a y that is no candidate yet takes part with score 0."""
    n_labels = max(known, y + 1)
    top = 0.0 if n_labels > known else scores[0]
    for k in range(known):
        top = max(top, scores[k])
    total = 0.0
    for k in range(n_labels):
        errors[k] = np.exp((scores[k] if k < known else 0.0) - top)
        total += errors[k]
    for k in range(n_labels):
        errors[k] /= total
    errors[y] -= 1.0
    return n_labels


@kernel
def adagrad_step(
    errors: NDArray[np.float64],
    n_labels: int,
    row: int,
    x: float,
    eta: float,
    epsilon: float,
    weights: NDArray[np.float32],
    squares: NDArray[np.float64],
) -> None:
    """One feature's step for all labels: g = errors_k x, G_k += g^2, W_k -= eta g / sqrt(G_k + epsilon)."""
    # Tables are indexed by row and label: a row taken as an array of its own costs more than the step.
    for k in range(n_labels):
        gradient = errors[k] * x
        squares[row, k] += gradient * gradient
        weights[row, k] -= eta * gradient / np.sqrt(squares[row, k] + epsilon)


class LogisticRegression(Learner):
    """Multinomial logistic regression, its steps scaled by Adagrad.

    For an example x with label y, p the softmax of W_k.x + b_k::

        g_kj  = w (p_k - [k = y]) x_j
        G_kj += g_kj^2
        W_kj -= eta g_kj / sqrt(G_kj + epsilon)

    Parameters
    ----------
    eta : step size, > 0; 0.45 suits normalised, 0.1 raw values.
    epsilon : > 0, keeps the first step finite.
    normalize : scale x to length 1, its bias feature aside.
    features : see `Learner`.

    Raises
    ------
    ConfigError : eta or epsilon is not positive and finite.
    """

    name = "logistic_regression"
    tables = ("weights", "bias", "squares", "bias_squares")

    def __init__(
        self, eta: float = 0.45, epsilon: float = 1e-10, normalize: bool = True, features: View | None = None
    ) -> None:
        for key, value in (("eta", eta), ("epsilon", epsilon)):
            if not 0 < value < np.inf:
                raise ConfigError(f"logistic_regression.{key} must be positive, got {value}")
        super().__init__(features)
        self.eta, self.epsilon, self.normalize = float(eta), float(epsilon), bool(normalize)
        self.weights, self.squares = np.zeros((0, 0), np.float32), np.zeros((0, 0))
        self.bias, self.bias_squares = np.zeros(0, np.float32), np.zeros(0)

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        learn_batch(
            examples,
            targets,
            self.eta,
            self.epsilon,
            self.normalize,
            self.weights,
            self.bias,
            self.squares,
            self.bias_squares,
            np.empty(scores.shape[1]),
            scores,
        )
