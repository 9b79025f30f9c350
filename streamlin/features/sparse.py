"""Tables of numbers, with events as rows and features as columns, as features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.features.sums import sum_repeats
from streamlin.features.view import Buckets


def entries(matrix: Any) -> Buckets:
    """The non-zero entries of a scipy matrix [n, n_columns] in CSR form, one per column; column j is bucket j.

    The arrays are copies that kernels may write to.
    """
    indptr, columns, values = _without_zeros(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)
    )
    if not matrix.has_canonical_format:
        sum_repeats(indptr, columns, values, bits_for(matrix.shape[1]))
    return Buckets(indptr, columns[: indptr[-1]], values[: indptr[-1]])


def bits_for(n_columns: int) -> int:
    """The smallest number of bits, at least 1, that can number as many columns."""
    return max(1, (n_columns - 1).bit_length())


def _without_zeros(indptr: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float32]) -> Buckets:
    kept = values != 0
    if kept.all():
        return Buckets(indptr, columns, values)
    counts = np.zeros(kept.size + 1, np.int64)
    np.cumsum(kept, out=counts[1:])
    return Buckets(counts[indptr], columns[kept], values[kept])
