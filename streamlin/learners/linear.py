"""Kernels that linear learners share: scores, the rival of a label, and steps along an example."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.kernel import kernel
from streamlin.kernel.late import beside
from streamlin.learners import by_numpy
from streamlin.learners.tables import Array


@kernel
@beside(by_numpy.linear_scores)
def linear_scores(
    examples: Examples, i: int, weights: Array, bias: Array, scale: float, n_labels: int, scores: NDArray[np.float64]
) -> None:
    """Set scores[k] = bias_k + scale * sum_j x_j weights_jk for event i's n_labels candidates, -inf for the rest."""
    for k in range(scores.size):
        scores[k] = 0.0 if k < n_labels else -np.inf
    for j in range(examples.indptr[i], examples.indptr[i + 1]):
        row = examples.rows[j]
        if 0 <= row < examples.rows_before[i]:
            x = np.float64(examples.values[j])
            for k in range(n_labels):
                scores[k] += x * weights[row, k]
    for k in range(n_labels):
        scores[k] = bias[k] + scale * scores[k]


@kernel
@beside(by_numpy.best_other)
def best_other(scores: NDArray[np.float64], y: int | np.int64) -> int:
    """The best scored candidate other than y; -1 if there is no other. Ties go to the label seen first."""
    best = -1
    for k in range(scores.size):
        if k != y and scores[k] > -np.inf and (best < 0 or scores[k] > scores[best]):
            best = k
    return best


@kernel
@beside(by_numpy.squared_length)
def squared_length(examples: Examples, i: int) -> float:
    """The sum of event i's squared values, including those of features without a row."""
    total = 0.0
    for j in range(examples.indptr[i], examples.indptr[i + 1]):
        total += np.float64(examples.values[j]) * np.float64(examples.values[j])
    return total


@kernel
@beside(by_numpy.add_scaled)
def add_scaled(examples: Examples, i: int, step: float, weights: Array, bias: Array, k: int | np.int64) -> None:
    """weights_jk += step * x_j for every feature j of event i, its bias feature included."""
    for j in range(examples.indptr[i], examples.indptr[i + 1]):
        weights[examples.rows[j], k] += step * examples.values[j]
    bias[k] += step


@kernel
def scale_to_one(examples: Examples, i: int) -> float:
    """The factor that scales event i's values to length 1; 1 for an event without values."""
    squared_norm = squared_length(examples, i)
    return 1.0 / np.sqrt(squared_norm) if squared_norm > 0.0 else 1.0


@kernel
@beside(by_numpy.softmax_errors)
def softmax_errors(scores: NDArray[np.float64], known: int, y: int, errors: NDArray[np.float64]) -> int:
    """Set errors[k] = p_k - [k = y], return their number; a y that is not a candidate yet has score 0."""
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
    gradient: float | np.float32,
    row: int,
    k: int,
    eta: float | np.float32,
    epsilon: float | np.float32,
    weights: Array,
    squares: Array,
) -> None:
    """One weight's step: G += g^2, W -= eta g / sqrt(G + epsilon)."""
    squares[row, k] += gradient * gradient
    weights[row, k] -= eta * gradient / np.sqrt(squares[row, k] + epsilon)
