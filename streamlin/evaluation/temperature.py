"""Temperature scaling, online: scores become probabilities, and each label corrects how sure they are.

For scores s_1..s_n of an event's n candidates and their variance q::

    p = softmax z,   z_k = e^t (s_k - max s) / sqrt(S / N)         (q for S / N while S = 0; without it if that is 0)
    g = w (sum_k p_k z_k - z_y)                                    the log loss's slope in t
    G <- 0.998 G + g^2,   t <- t - 0.1 g / sqrt(G + 1e-12)
    S <- 0.999 S + w q,   N <- 0.999 N + w

S / N is the running variance, so that t starts at 0 whatever the unit of a learner's scores. Only an event whose label
y is one of at least two candidates is learned. A state is float64[4]: t, G, S, N, all zeros at first.
"""

from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.late import beside, exp_like_c

_LOG, _SQUARES, _SPREAD, _SEEN = range(4)
_RATE, _FADING, _TINY, _SPREAD_FADING = 0.1, 0.998, 1e-12, 0.999


def _sum(values: NDArray[np.float64]) -> np.float64:
    """One after the other, unlike `numpy.sum`."""
    return np.cumsum(values)[-1] if values.size else np.float64(0.0)


def _variance(scores: NDArray[np.float64], top: float, n: int) -> np.float64:
    """As `variance`."""
    below = scores[:n] - top
    total = _sum(below)
    return (_sum(below * below) - total * total / n) / n


@kernel
@beside(_variance)
def variance(scores: NDArray[np.float64], top: float, n: int) -> float:
    """Of the first n scores; `top` is the highest: subtracting it bounds what cancels out by n times the result."""
    total = squares = 0.0
    for k in range(n):
        below = scores[k] - top
        total += below
        squares += below * below
    return (squares - total * total / n) / n


@kernel
def factor_of(state: NDArray[np.float64], spread: float) -> float:
    """The factor of scores of variance `spread`."""
    scale = state[_SPREAD] / state[_SEEN] if state[_SPREAD] > 0.0 else spread
    return exp(state[_LOG]) / sqrt(scale) if scale > 0.0 else 1.0


def _powers_of(
    scores: NDArray[np.float64], top: float, n: int, factor: float, powers: NDArray[np.float64]
) -> tuple[float, float, float]:
    """As `powers_of`."""
    z = factor * (scores[:n] - top)
    p = powers[:n]
    p[:] = [exp_like_c(value) for value in z.tolist()]
    total, squares, moment = _sum(p), _sum(p * p), _sum(p * z)
    return 1.0 / total, squares / (total * total), moment / total


@kernel
@beside(_powers_of)
def powers_of(
    scores: NDArray[np.float64], top: float, n: int, factor: float, powers: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Set powers[:n] to e^z; returns the highest p, sum p^2 and sum p z."""
    total = squares = moment = 0.0
    for k in range(n):
        z = factor * (scores[k] - top)
        powers[k] = exp(z)
        total += powers[k]
        squares += powers[k] * powers[k]
        moment += powers[k] * z
    return 1.0 / total, squares / (total * total), moment / total


@kernel
def adjust(state: NDArray[np.float64], slope: float, w: float, spread: float) -> None:
    """Learn from an event of weight w, in place."""
    state[_SQUARES] = _FADING * state[_SQUARES] + slope * slope
    state[_LOG] -= _RATE * slope / sqrt(state[_SQUARES] + _TINY)
    state[_SPREAD] = _SPREAD_FADING * state[_SPREAD] + w * spread
    state[_SEEN] = _SPREAD_FADING * state[_SEEN] + w
