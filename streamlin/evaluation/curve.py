"""The course of accuracy over a stream of any length, in a bounded number of points.

A point is added after every d-th labelled event, d = 1 at first. When there is no room for another one, every second
point is dropped and d doubles; the points that remain are those of the doubled distance.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.evaluation.window import window_shares
from streamlin.kernel import kernel

POINTS = 512
"""Room for points; a long stream has from half as many to one fewer."""
_DISTANCE, _DUE, COUNT = range(3)


def new_progress(room: int) -> NDArray[np.int64]:
    """int64[3]: the distance of points, the event after which the next one is due (0: never), how many there are."""
    return np.array([1, 1 if room else 0, 0])


def is_progress(progress: NDArray[np.int64], room: int) -> bool:
    """Whether points were added as `add_point` does, so that the next one has room."""
    distance, due, count = progress.tolist()
    return bool(distance >= 1 and count < max(room, 1) and due == ((count + 1) * distance if room else 0))


def events_of(progress: NDArray[np.int64]) -> list[int]:
    """The numbers of the labelled events after which points were added."""
    return [int(progress[_DISTANCE]) * (i + 1) for i in range(int(progress[COUNT]))]


@kernel
def add_point(
    hit_weights: NDArray[np.float64],
    total: float,
    window_labels: NDArray[np.int32],
    window_predicted: NDArray[np.int32],
    window_weights: NDArray[np.float64],
    progress: NDArray[np.int64],
    points: NDArray[np.float64],
) -> None:
    """Add a point to points float64[room, 2, M]: running, then windowed accuracy of M predictors."""
    n = progress[COUNT]
    for m in range(hit_weights.size):
        points[n, 0, m] = hit_weights[m] / total
    window_shares(window_labels, window_predicted, window_weights, points[n, 1])
    keep_point(progress, points)


@kernel
def keep_point(progress: NDArray[np.int64], points: NDArray[np.float64]) -> None:
    """Count the point that was written behind the others, and make room for the next one."""
    n = progress[COUNT] + 1
    if n == points.shape[0]:
        n //= 2
        thin_out(points, n)
        progress[_DISTANCE] *= 2
    progress[COUNT] = n
    progress[_DUE] += progress[_DISTANCE]


@kernel
def thin_out(points: NDArray[np.float64], n: int) -> None:
    """Move every second point to the first n; the rest become 0, so that equal states are equal bytes.

    Value by value: for a whole slice numba compiles the text of an error, which takes seconds.
    """
    for i in range(points.shape[0]):
        for span in range(points.shape[1]):
            for m in range(points.shape[2]):
                points[i, span, m] = points[2 * i + 1, span, m] if i < n else 0.0


@kernel
def is_point_due(progress: NDArray[np.int64], events: int) -> bool:
    """Whether a point is to be added after labelled event number `events`, 1 being the first."""
    due: bool = events == progress[_DUE]
    return due
