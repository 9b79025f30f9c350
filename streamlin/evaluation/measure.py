"""What all measures share: their state is in arrays, which a checkpoint keeps."""

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray


class Measure:
    """Something that is counted, batch by batch.

    arrays : the names of the attributes that hold all of it.
    """

    arrays: ClassVar[tuple[str, ...]]

    def state(self) -> dict[str, NDArray[Any]]:
        """Every array, by name; not copied."""
        return {name: getattr(self, name) for name in self.arrays}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take copies of the arrays that `state` gave."""
        for name in self.arrays:
            setattr(self, name, state[name].copy())
