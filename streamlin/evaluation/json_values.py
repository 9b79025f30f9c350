"""Numbers as JSON-able values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]
"""What a report says of one predictor, label or slice, by key."""


def json_values(values: NDArray[Any] | Sequence[Any]) -> list[Any]:
    """A list; None for NaN and infinity: nothing was counted, or the sums of very large weights overflowed."""
    if not isinstance(values, np.ndarray):
        return list(values)
    listed: list[Any] = values.tolist()
    finite = np.isfinite(values)
    if finite.all():
        return listed
    return [value if is_finite else None for value, is_finite in zip(listed, finite.tolist(), strict=True)]


def rows_of(columns: dict[str, list[Any]]) -> list[Row]:
    """Columns by key, as rows."""
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
