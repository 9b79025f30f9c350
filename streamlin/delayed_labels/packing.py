"""Texts as arrays, for a checkpoint."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.storage.arrays import Expected, expected

_NONE = -1


def packed(name: str, texts: Sequence[str | None]) -> dict[str, NDArray[Any]]:
    """UTF-8, and int64[n] lengths in bytes, -1 for None."""
    encoded = [None if text is None else text.encode() for text in texts]
    lengths = [_NONE if text is None else len(text) for text in encoded]
    data = b"".join([text for text in encoded if text is not None])
    return {name: np.frombuffer(data, np.uint8), f"{name}_lengths": np.array(lengths, np.int64)}


def expected_packed(*names: str) -> dict[str, Expected]:
    """What the arrays that `packed` makes must be, for each of the names."""
    one = {"": expected(np.uint8, None), "_lengths": expected(np.int64, None, lowest=_NONE)}
    return {f"{name}{suffix}": array for name in names for suffix, array in one.items()}


def unpacked(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[str | None]:
    """The texts that `packed` was given. Raises CheckpointError if the arrays do not fit together."""
    data, lengths = arrays[name].tobytes(), arrays[f"{name}_lengths"]
    if sum(np.maximum(lengths, 0).tolist()) != len(data):
        raise CheckpointError(f"the checkpoint's arrays {name} of delayed labels do not fit together")
    ends = np.cumsum(np.maximum(lengths, 0)).tolist()
    try:
        return _cut(data, lengths, ends)
    except UnicodeDecodeError:
        raise CheckpointError(f"the checkpoint's array {name} of delayed labels is not UTF-8") from None


def unpacked_texts(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """`unpacked`, where None is not expected."""
    texts = unpacked(name, arrays)
    if None in texts:
        raise CheckpointError(f"the checkpoint's array {name} of delayed labels lacks one")
    return texts  # type: ignore[return-value]  # none of them is None


def _cut(data: bytes, lengths: NDArray[np.int64], ends: Sequence[int]) -> list[str | None]:
    return [
        None if length < 0 else data[end - length : end].decode()
        for end, length in zip(ends, lengths.tolist(), strict=True)
    ]
