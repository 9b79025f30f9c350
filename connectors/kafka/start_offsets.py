"""Where reading begins in each partition."""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from connectors.kafka.client import Consumer, Extent, Part
from connectors.kafka.options import SourceOptions
from streamlin.errors import CheckpointError, ConnectorError
from streamlin.events import Position, SourceContext


class Begin(NamedTuple):
    """Where reading begins in a partition.

    last : the record before `offset`, as in a position; it is read once more, and compared. None: nothing to compare.
    lost : how many records are gone.
    anew : the partition begins anew: its offsets mean something else than before.
    """

    offset: int
    last: Sequence[int] | None = None
    lost: int = 0
    anew: bool = False

    @property
    def fetched(self) -> int:
        """The first offset to ask the brokers for."""
        return self.offset if self.last is None else self.last[0]


class StartOffsets:
    """Offsets at which to begin: the checkpoint's, else the group's, else that of `start=`.

    If the group shares the partitions: the later of the checkpoint's and the group's. `start=` is for the first start
    only: a partition that neither knows, of a topic that one of them knows, is new and read from its beginning, and so
    is one that is added later.

    context : has the checkpoint's positions, by the key of a part.
    patience : seconds to wait for a topic.
    """

    def __init__(self, topics: Sequence[str], options: SourceOptions, context: SourceContext, patience: float) -> None:
        self._topics, self._options, self._notice = topics, options, context.notice
        self._positions = dict(context.positions)
        for part, position in self._positions.items():
            if type(position.get("leader_epoch", 0)) is not int or position["offset"] < 0:
                raise CheckpointError(f"{part}: the checkpoint's position is {position!r:.200}")
        self._first: dict[Part, int] = {}
        self._patience, self._since = patience, 0.0

    def update(self, positions: Mapping[str, Position]) -> None:
        """Take the positions of a newer checkpoint."""
        self._positions |= positions

    def all_exist(self, consumer: Consumer) -> bool:
        """Whether the topics exist. Raises ConnectorError if one is not created in time."""
        missing = next((topic for topic in self._topics if not consumer.partitions(topic)), None)
        if missing is None:
            return True
        now = time.monotonic()
        if not self._since:
            self._since = now
            limit = f" for {self._patience:g} s (kafka.connect_timeout)" if not self._options.wait_for_topic else ""
            self._notice(f"topic '{missing}' does not exist yet; waiting for it{limit}")
        if now - self._since >= self._patience and not self._options.wait_for_topic:
            raise ConnectorError(f"topic '{missing}' does not exist; wait_for_topic=true waits for it without a limit")
        return False

    def first(self, consumer: Consumer, parts: Sequence[Part]) -> None:
        """Find out where `start=` is now, in all partitions of the topics that are read for the first time.

        Another process of the group may begin at the same time: messages that come meanwhile are then not left out.
        """
        known = {key.rpartition("/")[0] for key in self._positions}
        unknown = [part for part in parts if part[0] not in known]
        if unknown and self._options.group is not None:
            known = {topic for topic, _ in consumer.committed(unknown)}
            unknown = [part for part in unknown if part[0] not in known]
        if unknown:
            self._first = dict(self._started(consumer, unknown, consumer.extents(unknown)))

    def begins(self, consumer: Consumer, parts: Sequence[Part]) -> dict[Part, Begin]:
        """Where to begin. Raises ConnectorError if records are gone or changed, unless `on_gap=continue`."""
        extents = consumer.extents(parts)
        known = {part: self._positions[name(part)] for part in parts if name(part) in self._positions}
        anew = self._drop_recreated(consumer, known)
        unknown = [part for part in parts if part not in known]
        if self._options.group is not None:
            asked = parts if self._options.is_shared else unknown
            for part, offset in consumer.committed(asked).items() if asked else ():
                if part not in known or offset > known[part]["offset"]:
                    known[part] = {"offset": offset}
        first = {part: {"offset": offset} for part, offset in self._first.items() if part in unknown}
        known = first | known
        if new := [part for part in unknown if part not in known and part not in anew]:
            self._notice(f"new partitions are read from their beginning: {', '.join(map(name, new))}")
        beginnings = {part: Begin(extents[part].low, anew=part in anew) for part in parts if part not in known}
        return beginnings | self.in_range(known, extents)

    def recreated(self, topic: str) -> None:
        """Handle a topic that has a new id. Raises ConnectorError, unless `on_gap=continue`."""
        found = f"topic '{topic}' was deleted and created again"
        if self._options.on_gap == "stop":
            raise ConnectorError(f"{found}; on_gap=continue reads the new one from its beginning")
        self._notice(f"{found}; the new one is read from its beginning")

    def _drop_recreated(self, consumer: Consumer, known: dict[Part, Position]) -> list[Part]:
        """Forget the positions in topics that were created again; returns their partitions."""
        found = []
        for topic in dict.fromkeys(topic for topic, _ in known):
            now = consumer.topic_id(topic)
            ids = {part: position.get("topic_id") for part, position in known.items() if part[0] == topic}
            others = [part for part, before in ids.items() if None not in (before, now) and before != now]
            if others:
                self.recreated(topic)
            for part in others:
                del known[part], self._positions[name(part)]
            found += others
        return found

    def _started(self, consumer: Consumer, parts: Sequence[Part], extents: Mapping[Part, Extent]) -> Mapping[Part, int]:
        start = self._options.start
        if start.offset is not None:
            for part in parts:
                if start.offset > extents[part].high:
                    low, high = extents[part]
                    raise ConnectorError(f"start={start.offset}: {name(part)} has offsets {low:,} to {high:,}")
            return dict.fromkeys(parts, start.offset)
        if start.time_ms is not None:
            return consumer.offsets_at(parts, start.time_ms)
        return {part: extents[part].high if start.where == "latest" else extents[part].low for part in parts}

    def in_range(self, places: Mapping[Part, Position], extents: Mapping[Part, Extent]) -> dict[Part, Begin]:
        """Where to begin instead of at places that have no records any more; raises as `begins`."""
        return {part: self._in_range(part, place, extents[part]) for part, place in places.items()}

    def _in_range(self, part: Part, place: Position, extent: Extent) -> Begin:
        offset, last, (low, high) = int(place["offset"]), place.get("last"), extent
        if offset > high:
            found = f"{name(part)} has lost records: it ends at offset {high:,}, reading was to continue at {offset:,}"
            return self.anew(part, found, low, offset - high)
        if offset >= low:
            return Begin(offset, last if last is not None and last[0] >= low else None)
        gone = low - offset
        found = f"{name(part)}: {gone:,} records from offset {offset:,} on are gone, the oldest one left is {low:,}"
        if self._options.on_gap == "stop":
            raise ConnectorError(f"{found}; on_gap=continue continues without them")
        self._notice(found)
        return Begin(low, lost=gone)

    def anew(self, part: Part, found: str, low: int, lost: int = 0) -> Begin:
        """Handle a partition that holds other records than those that were read; raises as `begins`."""
        if self._options.on_gap == "stop":
            raise ConnectorError(f"{found}; on_gap=continue reads it from its beginning, offset {low:,}")
        self._notice(f"{found}; it is read from its beginning, offset {low:,}")
        return Begin(low, lost=lost, anew=True)


def name(part: Part) -> str:
    """`topic/partition`, the key in a checkpoint."""
    return f"{part[0]}/{part[1]}"
