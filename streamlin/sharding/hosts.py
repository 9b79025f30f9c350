"""Other processes that learn shards, as a model sees them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from streamlin.sharding.parts import New
from streamlin.sharding.shard import Piece, Scored

ShardPieces = Mapping[int, Sequence[tuple[int, Piece]]]
"""Shard -> its pieces of a round, each with the index of its portion."""


class Hosted(NamedTuple):
    """What is told of a shard that was learned elsewhere; what it has changed stays there.

    scored : returns what was made of each of its pieces. names : by view, names of features that may be new, as
    `streamlin.features.names.Names.add` takes them. clipped : learners that have taken a negative value as 0.
    """

    new: New
    scored: Callable[[], list[Scored]]
    names: Mapping[str, Mapping[str, NDArray[Any]]]
    clipped: set[str]


class Hosts(Protocol):
    """Learn shards. Rounds are numbered from 1 on."""

    def prepare(self, number: int, pieces: ShardPieces) -> None:
        """Make a round ready, which may never begin, while the one before it is learned."""

    def begin(self, number: int, pieces: ShardPieces) -> None:
        """Begin a round, once the one before it is learned, unless it was begun; `learn` is called for it, or never.

        The model has the labels and rows of all rounds before it.
        """

    def learn(self) -> list[Hosted]:
        """What is told of each shard in the round that was begun, in their order."""

    def tables(self) -> Mapping[str, NDArray[Any]]:
        """The arrays `learners/...` of the model's `state`, after all rounds that were learned."""

    def report(self) -> list[dict[str, Any]]:
        """For a report, what each of them has done."""
