"""The highest value of an array, its place, and the sum, in forms that compile to vector instructions.

A loop that carries one number from value to value waits for each comparison or addition. These carry eight.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel


@kernel
def highest(x: NDArray[np.float32], n: int) -> np.float32:
    """The highest of x[:n], n > 0."""
    top: np.float32 = x[0]
    eights = n // 8 * 8
    if eights:
        a, b, c, d, e, f, g, h = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
        for k in range(8, eights, 8):
            a = x[k] if x[k] > a else a
            b = x[k + 1] if x[k + 1] > b else b
            c = x[k + 2] if x[k + 2] > c else c
            d = x[k + 3] if x[k + 3] > d else d
            e = x[k + 4] if x[k + 4] > e else e
            f = x[k + 5] if x[k + 5] > f else f
            g = x[k + 6] if x[k + 6] > g else g
            h = x[k + 7] if x[k + 7] > h else h
        a, b, c, d = a if a > e else e, b if b > f else f, c if c > g else g, d if d > h else h
        a, b = a if a > c else c, b if b > d else d
        top = a if a > b else b
    for k in range(eights, n):
        top = x[k] if x[k] > top else top
    return top


@kernel
def best_of(x: NDArray[np.float32], n: int) -> int:
    """The index of the highest of x[:n], the first of equal ones."""
    top = highest(x, n)
    for k in range(n):
        if x[k] == top:
            return k
    return 0


@kernel
def sum_of(x: NDArray[np.float32], n: int) -> np.float32:
    """The sum of x[:n]."""
    a = b = c = d = e = f = g = h = np.float32(0.0)
    eights = n // 8 * 8
    for k in range(0, eights, 8):
        a, b, c, d = a + x[k], b + x[k + 1], c + x[k + 2], d + x[k + 3]
        e, f, g, h = e + x[k + 4], f + x[k + 5], g + x[k + 6], h + x[k + 7]
    total: np.float32 = ((a + e) + (c + g)) + ((b + f) + (d + h))
    for k in range(eights, n):
        total += x[k]
    return total
