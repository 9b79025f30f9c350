"""What every clusterer has."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.features.rows import Examples
from streamlin.storage.arrays import Expected, Layout


class Assigned(NamedTuple):
    """The clusters of n texts, each as the texts before it have made them.

    slots : int32[n], the place of each one's cluster; -1 for none.
    numbers : int32[n], its number, from 1 on; 0 for none. A number is never used again, a slot is.
    similarities : float64[n], 0 to 1: how well it fits, also where it fits none; NaN for a text without words.
    new : bool[n], whether the text fits no cluster, and begins one if it is learned.
    """

    slots: NDArray[np.int32]
    numbers: NDArray[np.int32]
    similarities: NDArray[np.float64]
    new: NDArray[np.bool_]

    @classmethod
    def empty(cls, n: int) -> "Assigned":
        """Arrays to be set."""
        return cls(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n), np.empty(n, np.bool_))


class Clusterer(ABC):
    """Clusters of texts.

    name : its kind. clusters : how many there are at most at a time.
    """

    name: ClassVar[str]
    clusters: int

    @property
    @abstractmethod
    def weights(self) -> NDArray[np.float64]:
        """float64[clusters]: the weight of each cluster's texts; 0 for one that is not in use."""

    @property
    @abstractmethod
    def numbers(self) -> NDArray[np.int32]:
        """int32[clusters]: the number of each cluster in use, from 1 on, in the order in which they began; else 0."""

    @abstractmethod
    def grow(self, n_rows: int) -> None:
        """Have room for so many rows."""

    @abstractmethod
    def assign(self, examples: Examples, weights: NDArray[np.float64]) -> Assigned:
        """Give each of n texts a cluster, and learn it; one of weight 0 is only given one."""

    @abstractmethod
    def word_weights(self, n_rows: int) -> NDArray[np.float64]:
        """float64[rows, clusters]: how heavy each word is in each cluster."""

    @abstractmethod
    def table_bytes(self, n_rows: int) -> int:
        """The size of all tables for so many rows."""

    @abstractmethod
    def state(self, n_rows: int) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint."""

    @abstractmethod
    def expected(self, n_rows: int, layout: Mapping[str, Layout]) -> dict[str, Expected]:
        """What the arrays of a `state` must be. layout : of the arrays in a file."""

    @abstractmethod
    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a `state`. Raises CheckpointError if its arrays do not fit together."""
