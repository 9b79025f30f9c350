"""The likelihoods of a text under counts of features, for naive Bayes: smoothed, and summed as logs."""

import math

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.kernel import inlined_kernel, kernel
from streamlin.kernel.late import beside, late_kernel, log_like_c
from streamlin.learners import by_numpy

_LARGEST = 1000
"""log2 of the largest product of factors before its log is taken; float64 ends at 2^1024."""
_BOUND = 2.0 ** (_LARGEST - 1)


def _smooth(
    by_prior: bool,
    alpha: float,
    totals: NDArray[np.float64],
    n_labels: int,
    n_rows: int,
    inverses: NDArray[np.float64],
    offsets: NDArray[np.float64],
) -> int:
    """As `smooth`, in numpy."""
    own = totals[:n_labels]
    seen = own > 0.0
    share = (by_numpy.left_sum(own) if by_prior else np.float64(1.0)) / alpha
    found = np.where(seen, share / np.where(seen, own, 1.0) if by_prior else share, 0.0)
    found = np.where(own * found > _BOUND, _BOUND / np.maximum(own, 1.0), found)
    inverses[:n_labels] = found
    offsets[:n_labels] = 0.0
    if not by_prior:
        offsets[:n_labels] = log_like_c(alpha) - by_numpy.logs_of(own + alpha * max(n_rows, 1))
    largest = np.fmax.reduce(own * found, initial=0.0)  # not of NaN, as of counts that have overflowed
    return _LARGEST // math.frexp(1.0 + largest)[1]


@late_kernel
@beside(_smooth)
def smooth(
    by_prior: bool,
    alpha: float,
    totals: NDArray[np.float64],
    n_labels: int,
    n_rows: int,
    inverses: NDArray[np.float64],
    offsets: NDArray[np.float64],
) -> int:
    """Set inverses and offsets so that a feature j of value 1 adds log(1 + N_kj inverse_k) + offset_k.

    Returns how many such factors can be multiplied without overflow, given that N_kj is never above N_k.
    """
    log_alpha, total = np.log(alpha), 0.0
    for k in range(n_labels):
        total += totals[k]
    share, largest = (total if by_prior else 1.0) / alpha, 0.0
    for k in range(n_labels):
        offsets[k] = 0.0 if by_prior else log_alpha - np.log(totals[k] + alpha * max(n_rows, 1))
        inverses[k] = 0.0
        if totals[k] > 0.0:
            inverses[k] = share / totals[k] if by_prior else share
            if totals[k] * inverses[k] > _BOUND:
                inverses[k] = _BOUND / max(totals[k], 1.0)
            largest = max(largest, totals[k] * inverses[k])
    return _LARGEST // math.frexp(1.0 + largest)[1]


@kernel
@beside(by_numpy.sum_of_logs)
def sum_of_logs(
    examples: Examples,
    i: int,
    counts: NDArray[np.float64],
    n_labels: int,
    most: int,
    inverses: NDArray[np.float64],
    products: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> float:
    """Set scores[k] = sum_j x_j log(1 + N_kj inverse_k) for event i's n_labels candidates, -inf for the rest.

    For consecutive features of equal value, up to `most` of them, that is the value times the log of a product: most
    of the time would go into logs. Returns sum_j x_j.
    """
    for k in range(scores.size):
        scores[k] = 0.0 if k < n_labels else -np.inf
    for k in range(n_labels):
        products[k] = 1.0
    mass, value, factors = 0.0, 1.0, 0
    for j in range(examples.indptr[i], examples.indptr[i + 1]):
        row = examples.rows[j]
        if not 0 <= row < examples.rows_before[i]:
            continue
        x = np.float64(examples.values[j])
        mass += x
        if factors == most or x != value:
            take_logs(value, products, n_labels, scores)
            value, factors = x, 0
        for k in range(n_labels):
            products[k] *= 1.0 + counts[row, k] * inverses[k]
        factors += 1
    take_logs(value, products, n_labels, scores)
    return mass


@kernel
def take_logs(value: float, products: NDArray[np.float64], n_labels: int, scores: NDArray[np.float64]) -> None:
    """Add value * log(product) to the scores, and reset the products to 1."""
    for k in range(n_labels):
        scores[k] += value * np.log(products[k])
        products[k] = 1.0


@inlined_kernel
@beside(by_numpy.add_priors)
def add_priors(
    events: NDArray[np.float64],
    increment: float,
    log_n: float,
    mass: float,
    offsets: NDArray[np.float64],
    n_labels: int,
    scores: NDArray[np.float64],
) -> None:
    """Add log(events_k + increment) - log_n + mass offset_k to the scores of candidates."""
    for k in range(n_labels):
        scores[k] += (np.log(events[k] + increment) - log_n) + mass * offsets[k]
