"""Rounds: which events each shard learns before all shards are mixed again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError
from streamlin.sharding.cuts import Cuts
from streamlin.sharding.shard import Piece
from streamlin.streams.reader import Portion


@dataclass
class Rounds:
    """What is known about the rounds so far.

    number : how many there were. records : how many records were dealt to shards. shards : over all rounds, the sum of
    the shards that had events. last : the events of the last round. parts : by source, those that lanes read.
    """

    number: int = 0
    records: int = 0
    shards: int = 0
    last: int = 0
    parts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, shards: int, events: int, records: int) -> None:
        """Another round, with so many shards that had events; if there are none it does not count."""
        self.records += records
        if events:
            self.number += 1
            self.shards += shards
            self.last = events

    def check_parts(self, source: str, parts: Sequence[str]) -> None:
        """Raise CheckpointError if a source has other parts by now, in topics that were read before; remember them."""
        topics = {_topic(part) for part in parts}
        before = [part for part in self.parts.get(source, []) if _topic(part) in topics]
        of_known = [part for part in parts if _topic(part) in {_topic(one) for one in before}]
        if before and set(of_known) != set(before):
            raise CheckpointError(
                f"{source} has {len(of_known)} partitions, but had {len(before)} when the checkpoint was begun; shards "
                "can't go on with others: begin a new checkpoint"
            )
        self.parts[source] = list(dict.fromkeys([*self.parts.get(source, []), *parts]))

    def to_json(self) -> dict[str, Any]:
        """For a checkpoint."""
        return asdict(self)

    def report(self, shards: int) -> dict[str, Any]:
        """For a report."""
        used = self.shards / self.number if self.number else None
        return {"rounds": self.number, "shards": shards, "shards_in_use": used, "last_round": self.last}


class Round(NamedTuple):
    """Portions that are learned side by side.

    portions : in the order in which they are given out. shards : for each, int32[n], the shard of each of its events.
    cuts : up to where each lane is read, see `streamlin.sharding.lane`.
    """

    portions: list[Portion]
    shards: list[NDArray[np.int32]]
    cuts: list[Cuts]

    @property
    def events(self) -> int:
        """How many events there are."""
        return sum(len(portion.batch) for portion in self.portions)

    @property
    def size(self) -> int:
        """The bytes of their records."""
        return sum(portion.size for portion in self.portions)

    @property
    def records(self) -> int:
        """How many records they are of."""
        return sum(portion.count - portion.begin for portion in self.portions)

    def wait_for_features(self) -> None:
        """Wait until the features of all portions are found. Raises what finding them has raised."""
        for portion in self.portions:
            _ = portion.features

    def pieces(self, shard: int) -> Iterator[tuple[int, Piece]]:
        """The events of a shard, with the index of their portion."""
        for number, (portion, shards) in enumerate(zip(self.portions, self.shards, strict=True)):
            events = np.flatnonzero(shards == shard)
            if events.size:
                yield number, Piece(portion.batch, portion.features, events)


def _topic(part: str) -> str:
    return part.rpartition("/")[0]


def rounds_from(state: Mapping[str, Any]) -> Rounds:
    """Those of a checkpoint."""
    return Rounds(**state)
