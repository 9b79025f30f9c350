"""Where reading begins in each partition."""

import time
from collections.abc import Mapping, Sequence

from connectors.kafka.client import Consumer, Extent, Part
from connectors.kafka.options import SourceOptions
from streamlin.errors import CheckpointError, ConnectorError
from streamlin.events import Position, SourceContext


class StartOffsets:
    """Offsets at which to begin: the checkpoint's, else the group's, else that of `start=`.

    If the group shares the partitions: the later of the checkpoint's and the group's.

    context : has the checkpoint's positions, by the key of a part.
    patience : seconds to wait for a topic.
    """

    def __init__(self, topics: Sequence[str], options: SourceOptions, context: SourceContext, patience: float) -> None:
        self._topics, self._options, self._notice = topics, options, context.notice
        self._positions = dict(context.positions)
        for part, position in self._positions.items():
            if type(position.get("leader_epoch", 0)) is not int or position["offset"] < 0:
                raise CheckpointError(f"{part}: the checkpoint's position is {position!r:.200}")
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

    def offsets(
        self, consumer: Consumer, parts: Sequence[Part], late: bool = False
    ) -> tuple[dict[Part, int], dict[Part, int]]:
        """Where to begin, and how many records are lost, by partition.

        late : the partitions were added while this run was reading the topic: all their records are new.
        Raises ConnectorError if records are gone, unless `on_gap=continue`.
        """
        extents = consumer.extents(parts)
        known = {part: self._positions[name(part)] for part in parts if name(part) in self._positions}
        self._drop_recreated(consumer, known)
        offsets = {part: int(position["offset"]) for part, position in known.items()}
        unknown = [part for part in parts if part not in offsets]
        if self._options.group is not None:
            asked = parts if self._options.is_shared else unknown
            for part, offset in consumer.committed(asked).items() if asked else ():
                offsets[part] = max(offset, offsets.get(part, 0))
        unknown = [part for part in parts if part not in offsets]
        offsets |= {part: extents[part].low for part in unknown} if late else self._first(consumer, unknown, extents)
        return self.in_range(offsets, extents)

    def recreated(self, topic: str) -> None:
        """Handle a topic that has a new id. Raises ConnectorError, unless `on_gap=continue`."""
        found = f"topic '{topic}' was deleted and created again"
        if self._options.on_gap == "stop":
            raise ConnectorError(f"{found}; on_gap=continue reads the new one from its beginning")
        self._notice(f"{found}; the new one is read from its beginning")

    def _drop_recreated(self, consumer: Consumer, known: dict[Part, Position]) -> None:
        for topic in dict.fromkeys(topic for topic, _ in known):
            now = consumer.topic_id(topic)
            ids = {part: position.get("topic_id") for part, position in known.items() if part[0] == topic}
            others = [part for part, before in ids.items() if None not in (before, now) and before != now]
            if others:
                self.recreated(topic)
            for part in others:
                del known[part], self._positions[name(part)]

    def _first(self, consumer: Consumer, parts: Sequence[Part], extents: Mapping[Part, Extent]) -> Mapping[Part, int]:
        start = self._options.start
        if start.offset is not None:
            for part in parts:
                if start.offset > extents[part].high:
                    low, high = extents[part]
                    raise ConnectorError(f"start={start.offset}: {name(part)} has offsets {low:,} to {high:,}")
            return dict.fromkeys(parts, start.offset)
        if start.time_ms is not None:
            return consumer.offsets_at(parts, start.time_ms) if parts else {}
        return {part: extents[part].high if start.where == "latest" else extents[part].low for part in parts}

    def in_range(
        self, offsets: Mapping[Part, int], extents: Mapping[Part, Extent]
    ) -> tuple[dict[Part, int], dict[Part, int]]:
        """The nearest offsets that have records, and how many records are lost, by partition; raises as `offsets`."""
        found, lost = dict(offsets), {}
        for part, offset in offsets.items():
            low, high = extents[part]
            if low <= offset <= high:
                continue
            gone = low - offset
            problem = (
                f"{name(part)}: {gone:,} records from offset {offset:,} on are gone, the oldest one left is {low:,}"
                if gone > 0
                else f"{name(part)} has lost records: it ends at offset {high:,}, reading was to continue at {offset:,}"
            )
            if self._options.on_gap == "stop":
                raise ConnectorError(f"{problem}; on_gap=continue continues without them")
            self._notice(problem)
            found[part], lost[part] = (low, gone) if gone > 0 else (high, 0)
        return found, lost


def name(part: Part) -> str:
    """`topic/partition`, the key in a checkpoint."""
    return f"{part[0]}/{part[1]}"
