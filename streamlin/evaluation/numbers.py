"""Arrays of figures as JSON-able values."""

import numpy as np
from numpy.typing import NDArray


def numbers(values: NDArray[np.float64]) -> list[float | None]:
    """None where there is no number: nothing was counted, or weights are so large that their sums overflow."""
    listed: list[float | None] = values.tolist()
    if np.isfinite(values).all():
        return listed
    return [value if finite else None for value, finite in zip(listed, np.isfinite(values).tolist(), strict=True)]
