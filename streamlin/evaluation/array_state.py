"""State that is kept in arrays, as a checkpoint stores it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray


class ArrayState:
    """Base of everything that counts batch by batch.

    arrays : the names of the attributes that hold the whole state.
    """

    arrays: ClassVar[tuple[str, ...]]

    def state(self) -> dict[str, NDArray[Any]]:
        """Every array, by name; not copied."""
        return {name: getattr(self, name) for name in self.arrays}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Copy the arrays that `state` returned."""
        for name in self.arrays:
            setattr(self, name, state[name].copy())
