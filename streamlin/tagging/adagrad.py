"""Steps of taggers along gradients: the same for a token's features and for transitions.

Duchi, Hazan, Singer, JMLR 12 (2011) 2121-2159, the diagonal form of figure 1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.prefetch import prefetch
from streamlin.learners.linear import adagrad_step
from streamlin.tagging.reductions import farthest
from streamlin.tagging.slots import own_slot
from streamlin.tagging.viterbi import LINE, set_slots


class Gradient(NamedTuple):
    """The tags whose gradient is not near 0, and those gradients; scratch.

    tags : int32[capacity]. values : float32[capacity]. rows : int64[templates]. steps : float32[templates].
    """

    tags: NDArray[np.int32]
    values: NDArray[np.float32]
    rows: NDArray[np.int64]
    steps: NDArray[np.float32]


@kernel
def new_gradient(capacity: int, templates: int) -> Gradient:
    """Room for the gradient of so many tags, by the weights of so many features of a token."""
    tags, values = np.empty(capacity, np.int32), np.empty(capacity, np.float32)
    return Gradient(tags, values, np.empty(templates, np.int64), np.empty(templates, np.float32))


@kernel
def gather(errors: NDArray[np.float32], n: int, skip: np.float32, weight: np.float32, gradient: Gradient) -> int:
    """List the tags k < n with |errors[k]| above `skip`, with weight * errors[k]; returns their number.

    Most tags of most tokens are near 0: to leave them out costs no accuracy and saves half of the time.
    """
    size = 0
    if farthest(errors, n) <= skip:
        return size
    for k in range(n):
        if errors[k] > skip or errors[k] < -skip:
            gradient.tags[size], gradient.values[size] = k, weight * errors[k]
            size += 1
    return size


@kernel
def prefetch_step(
    errors: NDArray[np.float32],
    n: int,
    skip: np.float32,
    rows: NDArray[np.int32],
    slots: NDArray[np.int32],
    squares: NDArray[np.float32],
    gradient: Gradient,
) -> None:
    """Ask for the sums that `step_token` will need once it is given what `gather` lists of errors; scratch is used."""
    size = set_slots(rows, slots.size, slots, gradient.rows)
    for first in range(0, n, LINE):
        if farthest(errors[first:], min(LINE, n - first)) > skip:
            of_line = squares[:, first:]
            for f in range(size):
                prefetch(of_line, gradient.rows[f])


@kernel
def step_row(
    gradient: Gradient,
    size: int,
    row: int,
    eta: np.float32,
    epsilon: np.float32,
    weights: NDArray[np.float32],
    squares: NDArray[np.float32],
) -> None:
    """G += g^2, W -= eta g / sqrt(G + epsilon), for the listed tags in one row."""
    for m in range(size):
        adagrad_step(gradient.values[m], row, gradient.tags[m], eta, epsilon, weights, squares)


@kernel
def step_token(
    gradient: Gradient,
    size: int,
    rows: NDArray[np.int32],
    slots: NDArray[np.int32],
    n_slots: NDArray[np.int64],
    eta: np.float32,
    epsilon: np.float32,
    weights: NDArray[np.float32],
    squares: NDArray[np.float32],
) -> None:
    """The same for all of a token's features, int32[templates]; -1: it has no row. See `own_slot`.

    Tag by tag, so that the roots and quotients of all rows are computed at once.
    """
    own, steps, n = gradient.rows, gradient.steps, 0
    for f in range(rows.size):
        if rows[f] >= 0:
            own[n] = own_slot(slots, n_slots, rows[f])
            n += 1
    for m in range(size):
        k, g = gradient.tags[m], gradient.values[m]
        for f in range(n):
            squares[own[f], k] += g * g
            steps[f] = squares[own[f], k]
        for f in range(n):
            steps[f] = eta * g / np.sqrt(steps[f] + epsilon)
        for f in range(n):
            weights[own[f], k] -= steps[f]
