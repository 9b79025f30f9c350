"""Noticing that a learner's accuracy has collapsed: what was right for long is wrong of late.

Two fading accuracies of its own predictions, one of a short and one of a long memory, whose ratio tells a change, as in
Gama, Sebastião, Rodrigues, Machine Learning 90 (2013) 317-346.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

_LATE, _LONG = 0.995, 0.9995
"""What an earlier event's part shrinks by: memories of some 200 and 2,000 events."""
_ENOUGH = 300.0
"""The weight that the long memory must hold before anything is told from it."""


@kernel
def collapsed(
    hit: bool,
    weight: float,
    share: float,
    late_hits: NDArray[np.float64],
    late: NDArray[np.float64],
    long_hits: NDArray[np.float64],
    long: NDArray[np.float64],
) -> bool:
    """Count a prediction; whether late_hits / late < share * long_hits / long now.

    The numbers [] are changed in place: fading sums of weights, of hits and of all. Where it is so the long memory
    becomes the late one, lest the same collapse be told twice.
    """
    won = weight if hit else 0.0
    late_hits[()] = _LATE * late_hits[()] + won
    late[()] = _LATE * late[()] + weight
    long_hits[()] = _LONG * long_hits[()] + won
    long[()] = _LONG * long[()] + weight
    if long[()] <= _ENOUGH or late_hits[()] * long[()] >= share * long_hits[()] * late[()]:
        return False
    long_hits[()], long[()] = late_hits[()], late[()]
    return True
