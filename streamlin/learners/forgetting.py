"""Forgetting by growing increments: new events count more, instead of old ones less.

The i-th event counts 2^(i / half_life). Only ratios of sums are used, so only the ratios of increments matter. Once the
increment has grown by 2^64, all sums are divided by 2^64, which is exact since it is a power of two.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.late import beside

GROWN = 64.0
"""log2 of the increment at which sums are scaled down."""


@cache
def growth_rate(half_life: float | None) -> float:
    """The growth of the increment's log2 with each event."""
    return 0.0 if half_life is None else 1.0 / half_life


def _scale_down(sums: NDArray[Any]) -> None:
    """As `scale_down`, in numpy."""
    np.ldexp(sums, -64, out=sums)


@kernel
@beside(_scale_down)
def scale_down(sums: NDArray[Any]) -> None:
    """Divide a table by 2^64."""
    for row in range(sums.shape[0]):
        scale_down_row(sums[row])


@kernel
def scale_down_row(sums: NDArray[Any]) -> None:
    """Divide one row by 2^64."""
    for k in range(sums.size):
        sums[k] = np.ldexp(sums[k], -64)
