"""Writes features one behind the other, each with a blank behind it, as `write_tokens` writes tokens."""

import numpy as np
from numpy.typing import NDArray

from streamlin.features.characters import BLANK
from streamlin.kernel import kernel
from streamlin.kernel.byte_buffers import copy_bytes


@kernel
def write_range(
    mark: int,
    times: int,
    data: NDArray[np.uint8],
    begin: int,
    end: int,
    out: NDArray[np.uint8],
    starts: NDArray[np.int64],
    count: int,
) -> int:
    """Append a mark, so many times, and `data[begin:end]` as one feature; returns the new count."""
    at = starts[count]
    for _ in range(times):
        out[at] = mark
        at += 1
    return close(out, starts, copy_bytes(data, begin, end, out, at), count)


@kernel
def close(out: NDArray[np.uint8], starts: NDArray[np.int64], at: int, count: int) -> int:
    """End a feature before `at`; returns the new count."""
    out[at] = BLANK
    starts[count + 1] = at + 1
    return count + 1
