"""Forgetting by a growing increment: what is new counts for more, instead of what is old for less.

After i events an event counts 2^(i / half_life). All that is summed is a ratio in the end, so that only the increments'
relation matters. Once they have grown by 2^64, sums are divided by that: by a power of two, which rounds nothing.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

GROWN = 64.0
"""log2 of an increment at which sums are scaled down."""


@cache
def growth_rate(half_life: float | None) -> float:
    """By how much the log2 of the increment grows with each event."""
    return 0.0 if half_life is None else 1.0 / half_life


@kernel
def scale_down(sums: NDArray[Any]) -> None:
    """Divide a table by 2^64."""
    for row in range(sums.shape[0]):
        for k in range(sums.shape[1]):
            sums[row, k] = np.ldexp(sums[row, k], -64)
