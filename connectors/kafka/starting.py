"""Where reading begins in each partition, and what is said where that is not possible."""

import time
from collections.abc import Callable, Mapping, Sequence

from connectors.kafka.client import Consumer, Extent, Part
from connectors.kafka.options import SourceOptions
from streamlin.errors import ConnectorError
from streamlin.events import Position

_CONTINUE = "on_gap=continue goes on without them"


class Starting:
    """Decides on offsets: the checkpoint's, else the group's, else those of `start=`; in a shared group the later one.

    positions : key of a part -> position, from the checkpoint.
    patience : seconds that a topic is waited for.
    """

    def __init__(
        self,
        topics: Sequence[str],
        options: SourceOptions,
        positions: Mapping[str, Position],
        patience: float,
        notice: Callable[[str], None],
    ) -> None:
        self._topics, self._options, self._notice = topics, options, notice
        self._positions = dict(positions)
        self._patience, self._since = patience, 0.0

    def learned(self, positions: Mapping[str, Position]) -> None:
        """A newer checkpoint has these."""
        self._positions |= positions

    def all_exist(self, consumer: Consumer) -> bool:
        """Whether the topics are there. Raises ConnectorError for one that doesn't come to be in time."""
        missing = next((topic for topic in self._topics if not consumer.partitions(topic)), None)
        if missing is None:
            return True
        now = time.monotonic()
        if not self._since:
            self._since = now
            patience = "" if self._options.wait_for_topic else f" for {self._patience:g} s (kafka.connect_timeout)"
            self._notice(f"there is no topic '{missing}' yet; waiting for it{patience}")
        if now - self._since >= self._patience and not self._options.wait_for_topic:
            raise ConnectorError(f"there is no topic '{missing}'; wait_for_topic=true waits for it for ever")
        return False

    def offsets(
        self, consumer: Consumer, parts: Sequence[Part], late: bool = False
    ) -> tuple[dict[Part, int], dict[Part, int]]:
        """Where to begin, and how many records of which partitions are lost.

        late : the partitions were made while this run was reading the topic: all that is in them is new.
        Raises ConnectorError where records are gone and that is not put up with.
        """
        extents = consumer.extents(parts)
        known = {part: self._positions[name(part)] for part in parts if name(part) in self._positions}
        self._drop_recreated(consumer, known)
        offsets = {part: int(position["offset"]) for part, position in known.items()}
        unknown = [part for part in parts if part not in offsets]
        if self._options.group is not None:
            asked = parts if self._options.shared else unknown
            for part, offset in consumer.committed(asked).items() if asked else ():
                offsets[part] = max(offset, offsets.get(part, 0))
        unknown = [part for part in parts if part not in offsets]
        offsets |= {part: extents[part].low for part in unknown} if late else self._first(consumer, unknown, extents)
        return self._in_range(offsets, extents)

    def after_gap(self, consumer: Consumer, positions: Mapping[Part, int]) -> tuple[dict[Part, int], dict[Part, int]]:
        """The same for partitions that are being read, some of which can't be read on."""
        return self._in_range(positions, consumer.extents(list(positions)))

    def recreated(self, topic: str) -> None:
        """A topic has another id than before. Raises ConnectorError unless that is put up with."""
        said = f"the topic '{topic}' was deleted and made anew"
        if not self._options.skip_gaps:
            raise ConnectorError(f"{said}; on_gap=continue reads the new one from its beginning")
        self._notice(f"{said}; the new one is read from its beginning")

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
                    raise ConnectorError(f"start={start.offset}: {name(part)} has the offsets {low:,} to {high:,}")
            return dict.fromkeys(parts, start.offset)
        if start.time_ms is not None:
            return consumer.offsets_at(parts, start.time_ms) if parts else {}
        return {part: extents[part].high if start.where == "latest" else extents[part].low for part in parts}

    def _in_range(
        self, offsets: Mapping[Part, int], extents: Mapping[Part, Extent]
    ) -> tuple[dict[Part, int], dict[Part, int]]:
        found, lost = dict(offsets), {}
        for part, offset in offsets.items():
            low, high = extents[part]
            if low <= offset <= high:
                continue
            gone = low - offset
            said = (
                f"{name(part)}: {gone:,} records from offset {offset:,} on are gone, the oldest one left is {low:,}"
                if gone > 0
                else f"{name(part)} ends at offset {high:,}, reading was to go on at {offset:,}: it has lost records"
            )
            if not self._options.skip_gaps:
                raise ConnectorError(f"{said}; {_CONTINUE}")
            self._notice(said)
            found[part], lost[part] = (low, gone) if gone > 0 else (high, 0)
        return found, lost


def name(part: Part) -> str:
    """`topic/partition`, as a checkpoint calls it."""
    return f"{part[0]}/{part[1]}"
