"""Multinomial logistic regression with Adagrad steps.

Duchi, Hazan, Singer, JMLR 12 (2011) 2121-2159, the diagonal form of figure 1; the gradient as in Eisenstein, Linear
Models for Statistical NLP (2014), section 4.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import ConfigError
from streamlin.features import Examples, View
from streamlin.kernel import kernel
from streamlin.learners.base import Learner, Targets, best_other, linear_scores


@kernel
def learn_batch(indptr, rows, values, rows_before, labels, known, importance, eta, epsilon, normalize, weights, bias, squares, bias_squares, errors, scores):  # type: ignore[no-untyped-def]  # fmt: skip
    """Score, then learn, event by event.

    weights float32[n_rows, n_labels], bias float32[n_labels], squares, bias_squares float64 likewise (the sums of squared
    gradients): changed in place. errors float64[n_labels]: scratch.
    """
    for i in range(labels.size):
        s, begin, end = scores[i], indptr[i], indptr[i + 1]
        scale = 1.0
        if normalize:
            squared_norm = 0.0
            for j in range(begin, end):
                squared_norm += np.float64(values[j]) * values[j]
            if squared_norm > 0.0:
                scale = 1.0 / np.sqrt(squared_norm)
        linear_scores(begin, end, rows, values, rows_before[i], weights, bias, scale, known[i], s)
        y = labels[i]
        if y < 0 or best_other(s, y) < 0:
            continue
        n_labels = softmax_errors(s, known[i], y, errors)
        for k in range(n_labels):
            errors[k] *= importance[i]
        for j in range(begin, end):
            adagrad_step(errors, n_labels, scale * values[j], eta, epsilon, weights[rows[j]], squares[rows[j]])
        adagrad_step(errors, n_labels, 1.0, eta, epsilon, bias, bias_squares)


@kernel
def softmax_errors(scores, known, y, errors):  # type: ignore[no-untyped-def]
    """Set errors[k] = p_k - [k = y]; a label y that is no candidate yet takes part with score 0. Returns their number."""
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
def adagrad_step(errors, n_labels, x, eta, epsilon, weights, squares):  # type: ignore[no-untyped-def]
    """One feature's step for all labels: g = errors_k x, G_k += g^2, W_k -= eta g / sqrt(G_k + epsilon)."""
    for k in range(n_labels):
        gradient = errors[k] * x
        squares[k] += gradient * gradient
        weights[k] -= eta * gradient / np.sqrt(squares[k] + epsilon)


class LogisticRegression(Learner):
    """Multinomial logistic regression, its steps scaled by Adagrad.

    For an example x with label y, p the softmax of W_k.x + b_k::

        g_kj  = w (p_k - [k = y]) x_j
        G_kj += g_kj^2
        W_kj -= eta g_kj / sqrt(G_kj + epsilon)

    Parameters
    ----------
    eta : step size, > 0; about 0.5 for normalised, 0.1 for raw values.
    epsilon : > 0, keeps the first step finite.
    normalize : scale x to length 1, its bias feature aside.
    features : see `Learner`.

    Raises
    ------
    ConfigError : eta or epsilon is not positive and finite.
    """

    name = "logistic_regression"
    cells = {"weights": np.float32, "squares": np.float64}
    per_label = {"bias": np.float32, "bias_squares": np.float64}

    def __init__(
        self, eta: float = 0.45, epsilon: float = 1e-10, normalize: bool = True, features: View | None = None
    ) -> None:
        for key, value in (("eta", eta), ("epsilon", epsilon)):
            if not 0 < value < np.inf:
                raise ConfigError(f"logistic_regression.{key} must be positive, got {value}")
        self.eta, self.epsilon, self.normalize = float(eta), float(epsilon), bool(normalize)
        super().__init__(features)

    def score_then_learn(self, examples: Examples, targets: Targets, scores: NDArray[np.float64]) -> None:
        learn_batch(
            *examples,
            *targets,
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
