"""Places of features in the tables of one tagger: a feature gets the next one when the tagger first learns it.

A third to three quarters of the features of a stream are never learned by a tagger, since their tokens were right, or
nearly. So the tables in use are half as large, or less, and what was not learned need not be read.
"""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel


@kernel
def own_slot(slots: NDArray[np.int32], n_slots: NDArray[np.int64], row: int) -> int:
    """The place of feature `row`, given out if it has none. slots int32[>= features], -1: none; n_slots int64[1]."""
    slot: int = slots[row]
    if slot < 0:
        slot = n_slots[0]
        slots[row] = slot
        n_slots[0] += 1
    return slot
