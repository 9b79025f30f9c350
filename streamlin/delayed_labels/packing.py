"""Texts as arrays, for a checkpoint."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NONE = -1


def packed(name: str, texts: Sequence[str | None]) -> dict[str, NDArray[Any]]:
    """UTF-8, and int64[n] lengths in bytes, -1 for None."""
    encoded = [None if text is None else text.encode() for text in texts]
    lengths = [_NONE if text is None else len(text) for text in encoded]
    data = b"".join([text for text in encoded if text is not None])
    return {name: np.frombuffer(data, np.uint8), f"{name}_lengths": np.array(lengths, np.int64)}


def unpacked(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[str | None]:
    """The texts that `packed` was given."""
    data, lengths = arrays[name].tobytes(), arrays[f"{name}_lengths"]
    ends = np.cumsum(np.maximum(lengths, 0)).tolist()
    return [
        None if length < 0 else data[end - length : end].decode()
        for end, length in zip(ends, lengths.tolist(), strict=True)
    ]
