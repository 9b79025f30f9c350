"""The course of accuracy over a stream of any length, in a bounded number of points.

A point is cut behind every d-th labelled event, d = 1 at first. When there is no room for another one, every second one
is dropped and d doubles: what is left is what would have been cut at the doubled distance from the start.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.window import window_shares
from streamlin.kernel import kernel

POINTS = 512
"""Room; a long stream has between half of it and one less than it."""
_DISTANCE, _DUE, _CUT = range(3)


def new_progress(room: int) -> NDArray[np.int64]:
    """int64[3]: the distance of points, the event behind which one is due next (0: none is), how many there are."""
    return np.array([1, 1 if room else 0, 0])


def events_of(progress: NDArray[np.int64]) -> list[int]:
    """The numbers of the labelled events behind which the points were cut."""
    return [int(progress[_DISTANCE]) * (i + 1) for i in range(int(progress[_CUT]))]


@kernel
def cut_point(
    hit_weights: NDArray[np.float64],
    total: float,
    window_labels: NDArray[np.int32],
    window_predicted: NDArray[np.int32],
    window_weights: NDArray[np.float64],
    progress: NDArray[np.int64],
    points: NDArray[np.float64],
) -> None:
    """Add a point to points float64[room, 2, M]: running, then windowed accuracy of M predictors."""
    cut = progress[_CUT]
    points[cut, 0] = hit_weights / total
    window_shares(window_labels, window_predicted, window_weights, points[cut, 1])
    cut += 1
    if cut == points.shape[0]:
        cut //= 2
        for i in range(cut):
            points[i] = points[2 * i + 1]
        points[cut:] = 0.0  # a point that was dropped is no part of the state
        progress[_DISTANCE] *= 2
    progress[_CUT] = cut
    progress[_DUE] += progress[_DISTANCE]


@kernel
def is_point_due(progress: NDArray[np.int64], events: int) -> bool:
    """Whether a point is to be cut behind labelled event number `events`, 1 being the first."""
    due: bool = events == progress[_DUE]
    return due
