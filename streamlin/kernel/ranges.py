"""Copying chosen ranges of an array, one behind the other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel.late import beside, late_kernel


def bounds_of(bounds: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[k + 1]: the bounds of the chosen ones, int64[k], of ranges with `bounds`, int64[n + 1]."""
    own = np.zeros(chosen.size + 1, np.int64)
    np.cumsum(bounds[chosen + 1] - bounds[chosen], out=own[1:])
    return own


def _copy_ranges(
    source: NDArray[Any],
    bounds: NDArray[np.int64],
    chosen: NDArray[np.int64],
    own: NDArray[np.int64],
    copies: NDArray[Any],
) -> None:
    """As `copy_ranges`, in numpy."""
    places = np.repeat(bounds[chosen] - own[:-1], np.diff(own)) + np.arange(own[-1])
    copies[: own[-1]] = source[places]


@late_kernel
@beside(_copy_ranges)
def copy_ranges(
    source: NDArray[Any],
    bounds: NDArray[np.int64],
    chosen: NDArray[np.int64],
    own: NDArray[np.int64],
    copies: NDArray[Any],
) -> None:
    """Copy the chosen ranges of the source, whose range i is `bounds[i]` to `bounds[i + 1]`, to where `own` says.

    The indices are unsigned, so that several entries are copied at a time.
    """
    for i in range(chosen.size):
        begin, to = np.uint64(bounds[chosen[i]]), np.uint64(own[i])
        for j in range(np.uint64(own[i + 1] - own[i])):
            copies[to + j] = source[begin + j]
