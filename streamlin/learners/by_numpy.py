"""What kernels of learners do, in numpy: Python runs this for the first events, see `streamlin.kernel.late`.

All features of an event are taken at once: logistic regression on words and characters then takes 0.5 s for a thousand
messages, where loops of Python take 3.9. Results are the same to the bit: numbers are 64 bits wide, and sums are taken
from left to right, which `numpy.sum` does not. No row is twice among an event's.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.kernel.late import exp_like_c, log_like_c
from streamlin.learners.tables import Array

Entries = tuple[NDArray[np.int32], NDArray[np.float64]]
"""Rows and values of an event's features."""


def entries_of(examples: Examples, i: int) -> Entries:
    """Event i's features."""
    own = slice(examples.indptr[i], examples.indptr[i + 1])
    return examples.rows[own], examples.values[own].astype(np.float64)


def known_entries(examples: Examples, i: int) -> Entries:
    """Those whose rows were there before the event."""
    rows, values = entries_of(examples, i)
    known = (rows >= 0) & (rows < examples.rows_before[i])
    return rows[known], values[known]


def left_sum(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum along the first axis, from left to right, beginning with 0."""
    return 0.0 + np.cumsum(values, axis=0)[-1] if len(values) else np.zeros(values.shape[1:])


def linear_scores(
    examples: Examples, i: int, weights: Array, bias: Array, scale: float, n_labels: int, scores: NDArray[np.float64]
) -> None:
    """As `linear.linear_scores`."""
    rows, values = known_entries(examples, i)
    scores[n_labels:] = -np.inf
    scores[:n_labels] = bias[:n_labels] + scale * left_sum(values[:, np.newaxis] * weights[rows, :n_labels])


def best_other(scores: NDArray[np.float64], y: int) -> int:
    """As `linear.best_other`."""
    others = np.where(scores > -np.inf, scores, -np.inf)  # NaN is no candidate
    if 0 <= y < scores.size:
        others[y] = -np.inf
    best = int(others.argmax()) if others.size else -1
    return best if best >= 0 and others[best] > -np.inf else -1


def softmax_errors(scores: NDArray[np.float64], known: int, y: int, errors: NDArray[np.float64]) -> int:
    """As `linear.softmax_errors`."""
    own = scores[:known].tolist()
    new = [0.0] * (y + 1 - known)
    own, top = [*own, *new], max([*new, *own])
    powers = np.array([exp_like_c(score - top) for score in own])
    errors[: len(own)] = powers / left_sum(powers)
    errors[y] -= 1.0
    return len(own)


def squared_length(examples: Examples, i: int) -> np.float64:
    """As `linear.squared_length`."""
    _, values = entries_of(examples, i)
    return np.float64(left_sum(values * values))


def add_scaled(examples: Examples, i: int, step: float, weights: Array, bias: Array, k: int) -> None:
    """As `linear.add_scaled`."""
    rows, values = entries_of(examples, i)
    weights[rows, k] += step * values
    bias[k] += step


def logs_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms as the C library takes them."""
    return np.array([log_like_c(value) for value in values.tolist()])


def sum_of_logs(
    examples: Examples,
    i: int,
    counts: NDArray[np.float64],
    n_labels: int,
    most: int,
    inverses: NDArray[np.float64],
    _: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> np.float64:
    """As `likelihoods.sum_of_logs`."""
    rows, values = known_entries(examples, i)
    scores[:n_labels], scores[n_labels:] = 0.0, -np.inf
    factors = 1.0 + counts[rows, :n_labels] * inverses[:n_labels]
    begin = 0
    while begin < values.size:
        end = begin + min(most, _length_of_run(values[begin:]))
        products = np.cumprod(factors[begin:end], axis=0)[-1]
        scores[:n_labels] += values[begin] * logs_of(products)
        begin = end
    return np.float64(left_sum(values))


def add_priors(
    events: NDArray[np.float64],
    increment: float,
    log_n: float,
    mass: float,
    offsets: NDArray[np.float64],
    n_labels: int,
    scores: NDArray[np.float64],
) -> None:
    """As `likelihoods.add_priors`."""
    scores[:n_labels] += (logs_of(events[:n_labels] + increment) - log_n) + mass * offsets[:n_labels]


def _length_of_run(values: NDArray[np.float64]) -> int:
    """The number of values before the first that differs from its predecessors."""
    differ = np.flatnonzero(values != values[0])
    return int(differ[0]) if differ.size else values.size


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
    """As `logistic_regression.steps_by_feature`."""
    rows, values = entries_of(examples, i)
    x = scale * values
    squares[rows, 0] += squared_errors * (x * x)
    steps = eta * x / np.sqrt(squares[rows, 0] + (epsilon + damping * (x * x)))
    weights[rows, :n_labels] -= steps[:, np.newaxis] * errors[:n_labels]


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
    """As `logistic_regression.steps_by_weight`."""
    rows, values = entries_of(examples, i)
    x = (scale * values)[:, np.newaxis]
    gradients = errors[:n_labels] * x
    sums = squares[rows, :n_labels] + gradients * gradients
    squares[rows, :n_labels] = sums
    weights[rows, :n_labels] -= eta * gradients / np.sqrt(sums + (epsilon + damping * (x * x)))


def gradient_steps(
    examples: Examples,
    i: int,
    scale: float,
    errors: NDArray[np.float64],
    n_labels: int,
    step: float,
    factor: float,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
) -> None:
    """As `sgd.take_steps`."""
    rows, values = entries_of(examples, i)
    labels = np.flatnonzero(errors[:n_labels])
    changes = -step * errors[labels]
    weights[rows[:, np.newaxis], labels] += changes * (scale * values)[:, np.newaxis] / factor
    bias[labels] += changes


def add_variances(examples: Examples, i: int, scale: float, variance: float, precisions: NDArray[np.float64]) -> float:
    """As `arow.add_variances`."""
    rows, values = entries_of(examples, i)
    x = scale * values
    return float(left_sum(np.append(variance, 2.0 * x * x / (1.0 + precisions[rows, 0]))))


def certain_steps(
    examples: Examples,
    i: int,
    scale: float,
    step: float,
    y: int,
    rival: int,
    weight: float,
    r: float,
    weights: NDArray[np.float32],
    precisions: NDArray[np.float64],
) -> None:
    """As `arow.certain_steps`."""
    rows, values = entries_of(examples, i)
    x = scale * values
    changes = step * x / (1.0 + precisions[rows, 0])
    weights[rows, y] += changes
    weights[rows, rival] -= changes
    precisions[rows, 0] += weight * x * x / r
