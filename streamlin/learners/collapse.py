"""Detection of a collapse in a learner's accuracy.

Two fading accuracies of its own predictions are compared, one with a short and one with a long memory, as in Gama,
Sebastião, Rodrigues, Machine Learning 90 (2013) 317-346.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

_LATE, _LONG = 0.995, 0.9995
"""Fading factors of the short and the long memory: about 200 and 2,000 events."""
PULSE = 10.0
"""log2 of the factor by which what follows a collapse counts more: earlier events then count 1/1024."""
_ENOUGH = 300.0
"""The sum of weights that the long memory needs before it is compared."""


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
    """Count a prediction; returns whether now late_hits / late < share * long_hits / long.

    The numbers [] are changed in place: fading sums of the weights of hits and of all events. After a collapse the long
    memory is replaced by the short one, so that the same collapse is reported only once.
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
