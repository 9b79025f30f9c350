"""The last labelled events, kept as a ring. Sums over the window are computed when a report needs them.

Sums kept up to date would collect rounding errors, as each weight is added and later subtracted.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel.late import beside, late_kernel


class Window(NamedTuple):
    """The n events of a window, in no particular order.

    labels : int32[n]. predicted : int32[n, M], a column for each of M predictors; below 0 for an abstention or a
    label not seen yet. weights : float64[n].
    """

    labels: NDArray[np.int32]
    predicted: NDArray[np.int32]
    weights: NDArray[np.float64]


def _window_shares(
    labels: NDArray[np.int32],
    predicted: NDArray[np.int32],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> None:
    """As `window_shares`; `cumsum` adds event by event, unlike `sum`."""
    if labels.size:
        hits = predicted == labels[:, np.newaxis]
        shares[:] = np.cumsum(weights[:, np.newaxis] * hits, axis=0)[-1] / np.cumsum(weights)[-1]
    else:
        shares[:] = np.nan


@late_kernel
@beside(_window_shares)
def window_shares(
    labels: NDArray[np.int32],
    predicted: NDArray[np.int32],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> None:
    """Set shares float64[M] to each predictor's sum w h / sum w over a `Window`; NaN where it is empty."""
    total = 0.0
    for m in range(shares.size):
        shares[m] = 0.0
    for i in range(labels.size):
        w = weights[i]
        total += w
        for m in range(shares.size):
            shares[m] += w * (predicted[i, m] == labels[i])
    for m in range(shares.size):
        shares[m] /= total
