"""Pairs of tags as histories: each gets a row of its own when it is first learned, so tables hold only what occurs."""

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

START = -1
"""Stands for the tags before a sentence's first token."""


@kernel
def history(codes: NDArray[np.int32], tags: NDArray[np.int32], t: int) -> int:
    """The tag of token t of a sentence: the true one if it is known, else the predicted one; START before the first."""
    if t < 0:
        return START
    tag: int = codes[t] if codes[t] >= 0 else tags[t]
    return tag if tag >= 0 else START


@kernel
def learned_pair(pair_rows: NDArray[np.int32], n_pairs: NDArray[np.int64], first: int, second: int) -> int:
    """The row of a pair of tags (or START); a new pair gets the next one. n_pairs int64[1]: their number."""
    row: int = pair_rows[first + 1, second + 1]
    if row < 0:
        row = n_pairs[0]
        pair_rows[first + 1, second + 1] = row
        n_pairs[0] += 1
    return row
