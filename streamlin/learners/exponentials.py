"""Exponentials of many numbers at once, in loops that compile to vector instructions; numpy's take one at a time.

As in Tang, ACM TOMS 15 (1989) 144-157: x = m log 2 + r with a whole m, then 2^m e^r, e^r by a polynomial.
"""

import math

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.late import beside
from streamlin.learners.by_numpy import left_sum

_LEAST = -700.0
"""Below it a number counts as this: its exponential is 1e-304."""
_LOG2_E = 1.4426950408889634
_LOG_2_HIGH, _LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""The sum is log 2; the first has so few bits that its multiples are exact."""
_SHIFT = 6755399441055744.0 + 1023.0
"""1.5 * 2^52 and the bias of exponents: the low bits of a number plus this are the exponent of its power of 2."""


_FACTORIALS = tuple(float(math.factorial(n)) for n in range(11, -1, -1))


def powers_of_e(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The exponentials of numbers up to 0, each as `exponentials` takes it, in numpy."""
    x = np.maximum(values, _LEAST)
    shifted = x * _LOG2_E + _SHIFT
    m = shifted - _SHIFT
    r = (x - m * _LOG_2_HIGH) - m * _LOG_2_LOW
    p = np.zeros_like(r)
    for factorial in _FACTORIALS:
        p = p * r + 1.0 / factorial
    return p * (shifted.view(np.int64) << 52).view(np.float64)


def _exponentials(values: NDArray[np.float64], n: int, top: float, powers: NDArray[np.float64]) -> np.float64:
    """As `exponentials`, in numpy."""
    powers[0, :n] = powers_of_e(values[:n] - top)
    return np.float64(left_sum(powers[0, :n]))


@kernel
@beside(_exponentials)
def exponentials(values: NDArray[np.float64], n: int, top: float, powers: NDArray[np.float64]) -> float:
    """Set powers[k] = exp(values[k] - top) for k < n, where no value is above top, and return their sum, left to right.

    powers : float64[2, n or more]; the second row is scratch. The relative error is below 1e-14.
    """
    found, scales = powers[0], powers[1]
    for k in range(n):
        x = max(values[k] - top, _LEAST)
        shifted = x * _LOG2_E + _SHIFT
        m = shifted - _SHIFT
        r = (x - m * _LOG_2_HIGH) - m * _LOG_2_LOW
        scales[k] = shifted
        p = 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        found[k] = p * r + 1.0
    bits = scales.view(np.int64)
    for k in range(n):
        bits[k] <<= 52
    total = 0.0
    for k in range(n):
        found[k] *= scales[k]
    for k in range(n):
        total += found[k]
    return total
