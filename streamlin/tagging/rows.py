"""Rows of tokens' features: as `streamlin.features.rows`, with a bound on their number."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import RowIndex


class TokenRows:
    """The row of each bucket of features of tokens, in order of first sight; without a row once there are `most`.

    capacity : how many rows there can be. full : whether a feature was left without a row because of `most`.
    """

    def __init__(self, bits: int, most: int) -> None:
        self.index, self._most, self.full = RowIndex(bits), most, False
        self.capacity = min(1 << bits, most)

    def __len__(self) -> int:
        return len(self.index)

    @property
    def bits(self) -> int:
        """There are 2^bits buckets."""
        return self.index.bits

    def count_new(self, buckets: NDArray[np.int32]) -> int:
        """How many rows these buckets bring at most."""
        return self.index.count_new(buckets.reshape(-1))

    def count_with(self, buckets: NDArray[np.int32]) -> int:
        """How many rows there are at most once these buckets have rows."""
        return min(len(self.index) + self.count_new(buckets), self._most)

    def assign(
        self, bounds: NDArray[np.int64], buckets: NDArray[np.int32], learned: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The rows of buckets int32[m, k] of n sentences, and int64[n], the number of rows before each.

        learned bool[n] : which sentences bring rows for their new buckets.
        """
        rows, before = np.empty(buckets.size, np.int32), np.empty(learned.size, np.int64)
        index = self.index
        index.assign(bounds * buckets.shape[1], buckets.reshape(-1), learned, rows, before)
        if index.n_rows > self._most:
            self.full = True
            index.forget(self._most)
            rows[rows >= self._most] = -1
            np.minimum(before, self._most, out=before)
        return rows.reshape(buckets.shape), before
