"""The last labelled events, kept as a ring: what is measured over a window is counted anew whenever it is asked for.

Kept up to date, sums of weights would leave rounding errors behind: what was added is taken away again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel


class Window(NamedTuple):
    """The n events of a window, in no order.

    labels : int32[n]. predicted : int32[n, M], a column for each of M predictors; below 0 for an abstention, or a label
    that was not seen yet. weights : float64[n].
    """

    labels: NDArray[np.int32]
    predicted: NDArray[np.int32]
    weights: NDArray[np.float64]


@kernel
def window_shares(
    labels: NDArray[np.int32],
    predicted: NDArray[np.int32],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> None:
    """Set shares float64[M] to each predictor's sum w h / sum w over a `Window`; NaN where it is empty."""
    total = 0.0
    shares[:] = 0.0
    for i in range(labels.size):
        w = weights[i]
        total += w
        for m in range(shares.size):
            shares[m] += w * (predicted[i, m] == labels[i])
    shares /= total
