"""exp of whole arrays, in a form that compiles to vector instructions."""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

_LOG2E, _LN2_HIGH, _LN2_LOW = np.float32(1.4426950408889634), np.float32(0.693359375), np.float32(-2.12194440e-4)
_ROUND = np.float32(12582912.0)
_LOWEST, _HIGHEST = np.float32(-87.0), np.float32(80.0)


@kernel
def exponentials(
    x: NDArray[np.float32],
    top: np.float32,
    n: int,
    out: NDArray[np.float32],
    bits: NDArray[np.int32],
    powers: NDArray[np.int32],
) -> None:
    """Set out[k] = exp(x[k] - top) for k < n; `bits` is `out`'s memory as int32, `powers` is scratch.

    Cephes' expf: exp(x) = 2^m exp(r), r = x - m log 2, by a polynomial of degree 6; relative error below 2e-7. What is
    below e^-87 becomes e^-87, what is above e^80 becomes e^80.
    """
    for k in range(n):
        y = x[k] - top
        y = y if y > _LOWEST else _LOWEST
        y = y if y < _HIGHEST else _HIGHEST
        m = (y * _LOG2E + _ROUND) - _ROUND
        r = y - m * _LN2_HIGH
        r = r - m * _LN2_LOW
        p = np.float32(1.9875691500e-4)
        p = p * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        p = p * r * r + r + np.float32(1.0)
        out[k] = p
        powers[k] = np.int32(m) << 23
    for k in range(n):  # a loop of its own: one that writes to `out` and `bits` could not be vectorized
        bits[k] += powers[k]
