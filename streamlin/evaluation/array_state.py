"""State that is kept in arrays, as a checkpoint stores it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray

from streamlin.storage.arrays import Expected, like


class ArrayState:
    """Base of everything that counts batch by batch.

    arrays : the names of the attributes that hold the whole state.
    """

    arrays: ClassVar[tuple[str, ...]]

    def state(self) -> dict[str, NDArray[Any]]:
        """Every array, by name; not copied."""
        return {name: getattr(self, name) for name in self.arrays}

    def expected(self, n_labels: int) -> dict[str, Expected]:
        """What each array of a checkpoint with so many labels must be; by default, as long as it is made.

        A class whose arrays grow, or hold numbers that kernels take as indices, says how long and how large they are.
        """
        return {name: like(getattr(self, name)) for name in self.arrays}

    def is_consistent(self) -> bool:
        """Whether the arrays, each of which is as expected, fit together."""
        return True

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Copy the arrays that `state` returned."""
        for name in self.arrays:
            setattr(self, name, state[name].copy())
