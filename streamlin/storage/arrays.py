"""The arrays of a checkpoint: what each must be, declared by those that keep them and checked in one place."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from streamlin.errors import CheckpointError

Shape = tuple[int, ...]
Of = TypeVar("Of")
Layout = tuple[np.dtype[Any], Shape]


class Expected(NamedTuple):
    """What an array must be.

    shape : None for a length that may be any.
    lowest, highest : of whole numbers, which kernels take as indices; None: no bound.
    """

    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    lowest: int | None = 0
    highest: int | None = None

    def fits(self, dtype: np.dtype[Any], shape: Shape) -> bool:
        """Whether an array of this type and shape is allowed."""
        lengths = zip(self.shape, shape, strict=False)
        return dtype == self.dtype and len(shape) == len(self.shape) and all(n in (None, m) for n, m in lengths)

    def within(self, array: NDArray[Any]) -> bool:
        """Whether all whole numbers are within the bounds; any other array is."""
        if self.dtype.kind not in "iu" or not array.size:
            return True
        low, high = int(array.min()), int(array.max())
        return (self.lowest is None or low >= self.lowest) and (self.highest is None or high <= self.highest)

    def __str__(self) -> str:
        return described(self.dtype, self.shape)


def expected(dtype: DTypeLike, *shape: int | None, lowest: int | None = 0, highest: int | None = None) -> Expected:
    """See `Expected`."""
    return Expected(np.dtype(dtype), shape, lowest, highest)


def like(array: NDArray[Any], lowest: int | None = 0, highest: int | None = None) -> Expected:
    """An array of the type and shape of this one."""
    return Expected(array.dtype, array.shape, lowest, highest)


def described(dtype: np.dtype[Any], shape: tuple[int | None, ...]) -> str:
    """Type and shape for a message, as `float64[3, n]`."""
    return f"{dtype}[{', '.join('n' if length is None else str(length) for length in shape)}]"


def check_layout(found: Mapping[str, Layout], wanted: Mapping[str, Expected], file: object) -> None:
    """Raise CheckpointError unless these are the names, types and shapes that are wanted. file : for the message."""
    for name in wanted:
        if name not in found:
            raise CheckpointError(f"{file} has no array {name}, which its configuration keeps")
    for name, (dtype, shape) in found.items():
        if name not in wanted:
            raise CheckpointError(f"{file} has an array {name!r:.100}, which its configuration does not keep")
        if not wanted[name].fits(dtype, shape):
            raise CheckpointError(f"{file}: its array {name} is {described(dtype, shape)}, expected {wanted[name]}")


def check_values(arrays: Mapping[str, NDArray[Any]], wanted: Mapping[str, Expected], file: object) -> None:
    """Raise CheckpointError if a whole number is out of bounds."""
    for name, array in arrays.items():
        if not wanted[name].within(array):
            low, high = wanted[name].lowest, wanted[name].highest
            bounds = f"at least {low}" if high is None else f"{low} to {high}"
            raise CheckpointError(f"{file}: its array {name} has {array.min()} to {array.max()}, expected {bounds}")


def length_of(layout: Mapping[str, Layout], name: str) -> int:
    """The length of a file's array along its first axis; 0 if there is no such array."""
    _, shape = layout.get(name, (None, ()))
    return shape[0] if shape else 0


def arrays_under(arrays: Mapping[str, Of], prefix: str) -> dict[str, Of]:
    """The arrays of a checkpoint, or what is known of them, whose names begin with a prefix, named without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
