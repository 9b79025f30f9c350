"""`kafka://host:port/topic`: a topic, or several, as a source."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np

from connectors.kafka.address import parse_address
from connectors.kafka.client import Consumer, Part
from connectors.kafka.connection import Connection
from connectors.kafka.errors import OffsetGoneError, RebalancingError, UnreachableError
from connectors.kafka.messages import Messages, beginning
from connectors.kafka.opening import open_consumer
from connectors.kafka.options import source_options
from connectors.kafka.poll_limit import PollLimit
from connectors.kafka.start_offsets import StartOffsets, name
from streamlin.errors import ConnectorError
from streamlin.events import Position, Records, SourceContext

_PAUSE = 0.05
"""Seconds that a poll waits for messages."""
_CHECK_EVERY = 0.5
"""Seconds between two checks of where the partitions end, and whether a broker still answers."""
_QUIET = 2.0
"""Seconds without a message after which a request shows whether a broker still answers."""
_NEW_PARTITIONS_EVERY = 15.0
_CLOSE_SECONDS = 0.5
"""Seconds to close in while no broker answers."""
_REBALANCE_SECONDS = 5.0
"""Seconds in which a rebalance should end, so that the group takes commits again."""


class KafkaSource:
    """Messages of topics, live. It connects while it is polled, so that the run can be stopped meanwhile.

    Each partition is a part, `topic/3`; positions are `offset`, `topic_id` and `leader_epoch`. Options: see
    `connectors.kafka.options.SourceOptions` and docs/connectors.md.

    Raises
    ------
    ConfigError : an option; the client's package is missing.
    ConnectorError, from `poll` : no broker, topic, or such offset.
    """

    def __init__(self, address: str, context: SourceContext) -> None:
        self._address, self._options = parse_address(address), source_options(context.options)
        self._context = context
        self._connection = connection = Connection(
            self._address.servers, context.settings, context.notice, context.max_record_bytes
        )
        self._contact = connection.contact()
        self._consumer: Consumer | None = None
        self._start = StartOffsets(self._address.topics, self._options, context, connection.connect_timeout)
        self._poll_limit = PollLimit(self._options.max_poll_interval_ms / 1000)
        self._waiting: deque[Messages] = deque()
        self._started = False
        self._owned: set[Part] = set()
        self._ids: dict[str, str | None] = {}
        self._begun: dict[Part, int] = {}
        self._known: Mapping[str, Position] = {}
        self._metadata = ""
        self._ends: dict[Part, int] = {}
        self._highs: dict[Part, int] = {}
        self._handed: dict[Part, int] = {}
        self._extent: dict[str, tuple[int, int]] = {}
        self._next_check = self._next_partitions = self._heard = self._gather_until = 0.0

    @staticmethod
    def key(address: str) -> str:
        """The brokers. The parts name the topics, so that one more topic leaves the others' positions as they are."""
        return ",".join(sorted(parse_address(address).servers))

    def poll(self, limit: int) -> list[Records] | None:
        """See `streamlin.events.Source`."""
        limit = self._poll_limit.limit(limit)
        try:
            if not self._ready():
                time.sleep(_PAUSE)
                return []
            if not self._waiting:
                self._fill(limit)
            self._check()
        except UnreachableError as error:
            self._contact.unanswered(error)
            time.sleep(_PAUSE)
            return []
        taken = self._taken(limit)
        if not taken and self._finished():
            if self._consumer is not None:
                self._measure(self._consumer)
            return None
        self._poll_limit.handed_over(sum(map(len, taken)))
        return taken

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Commit for the group, if there is one; a failure does no harm, since the checkpoint has the positions too."""
        self._known, self._metadata = positions, str(number) if number else ""
        if self._consumer is not None and (owned := self._committable()):
            with suppress(ConnectorError):
                self._consumer.commit_soon(owned, self._metadata)

    def _committable(self) -> dict[Part, Position]:
        """Positions in own partitions, but none from before another member had them: it is further by now."""
        if self._options.group is None:
            return {}
        known = {part: self._known[name(part)] for part in self._owned if name(part) in self._known}
        return {part: position for part, position in known.items() if position["offset"] >= self._begun[part]}

    @property
    def shared(self) -> bool:
        """See `streamlin.events.Source`."""
        return self._options.is_shared

    def extent(self) -> dict[str, tuple[int, int]]:
        """See `streamlin.events.Source`."""
        return self._extent

    def close(self) -> None:
        """Leave the group, close the connections."""
        if self._consumer is not None:
            away = self._contact.is_lost
            if not away:
                self._commit_finally()
            consumer, self._consumer = self._consumer, None
            consumer.close(_CLOSE_SECONDS if away else _REBALANCE_SECONDS)

    # The client calls these while it is polled.

    def assigned(self, parts: Sequence[Part]) -> Mapping[Part, int]:
        """See `connectors.kafka.client.Rebalance`."""
        if self._consumer is None or not parts:
            return {}
        offsets, lost = self._start.offsets(self._consumer, parts)
        self._owned |= offsets.keys()
        self._began(offsets, lost)
        self._context.notice(f"partitions from the group: {', '.join(map(name, parts))}")
        return offsets

    def revoked(self, parts: Sequence[Part]) -> None:
        """Have what was handed over of them in a checkpoint, and committed, before another member gets them."""
        self._drop(parts)
        self._start.update(self._context.checkpoint())
        self._owned -= set(parts)
        self._context.notice(f"partitions given to another member of the group: {', '.join(map(name, parts))}")

    def lost(self, parts: Sequence[Part]) -> None:
        """Commit nothing: another member may be further by now. What was handed over stays learned."""
        self._drop(parts)
        self._owned -= set(parts)
        self._start.update(self._context.checkpoint())
        self._context.notice(f"partitions lost, the group has removed this member: {', '.join(map(name, parts))}")

    def _commit_finally(self) -> None:
        """Commit, and wait until a broker has acknowledged it: another member begins there."""
        deadline = time.monotonic() + _REBALANCE_SECONDS
        while self._consumer is not None and (owned := self._committable()) and time.monotonic() < deadline:
            try:
                self._consumer.commit(owned, self._metadata)
                return
            except RebalancingError:
                time.sleep(_PAUSE)
            except ConnectorError:
                return

    def _drop(self, parts: Sequence[Part]) -> None:
        """Hand over no more messages of these partitions."""
        gone = set(parts)
        self._waiting = deque(piece for piece in self._waiting if (piece.topic, piece.partition) not in gone)
        self._extent = {key: extent for key, extent in self._extent.items() if key not in set(map(name, parts))}

    def _ready(self) -> bool:
        """Connect and begin, step by step; whether it is done."""
        if self._consumer is None:
            self._consumer = open_consumer(self._connection, self._options, self._contact.patience())
            self._contact.answered()
        if not self._started:
            if not self._start.all_exist(self._consumer):
                return False
            self._ids = {topic: self._consumer.topic_id(topic) for topic in self._address.topics}
            if self._options.is_shared:
                self._consumer.subscribe(self._address.topics, self)
            else:
                self._take_all(self._consumer)
            self._started = True
            self._heard = time.monotonic()
        return True

    def _all(self, consumer: Consumer) -> list[Part]:
        return [(topic, number) for topic in self._address.topics for number in consumer.partitions(topic)]

    def _take_all(self, consumer: Consumer) -> None:
        """Read all partitions, including new ones."""
        parts = self._all(consumer)
        new = [part for part in parts if part not in self._owned]
        if not new:
            return
        offsets, lost = self._start.offsets(consumer, new, late=self._started)
        ends = {part: extent.high for part, extent in consumer.extents(new).items()}
        self._highs |= ends
        if self._started:
            offsets = consumer.positions(sorted(self._owned)) | offsets
        elif self._options.stop:
            self._ends = ends
        consumer.assign(offsets)
        self._owned |= set(new)
        self._began({part: offsets[part] for part in new}, lost)
        self._next_partitions = time.monotonic() + _NEW_PARTITIONS_EVERY

    def _began(self, offsets: Mapping[Part, int], lost: Mapping[Part, int]) -> None:
        """Report lost records, and beginnings that the checkpoint does not have, by pieces without messages."""
        self._begun |= offsets
        for part, offset in offsets.items():
            if part in lost or name(part) not in self._context.positions:
                piece = beginning(*part, offset, lost.get(part, 0))
                piece.topic_id = self._ids.get(part[0])
                self._waiting.append(piece)

    def _fill(self, limit: int) -> None:
        """Take what has come. If it is little, wait before the next poll: a poll costs more than learning."""
        consumer = self._consumer
        assert consumer is not None
        rest = self._gather_until - time.monotonic()
        if rest > 0:
            time.sleep(rest)
        try:
            pieces = consumer.poll(limit, _PAUSE)
            few = 0 < sum(map(len, pieces)) < limit
            self._gather_until = time.monotonic() + self._options.max_batch_wait_ms / 1000 if few else 0.0
        except OffsetGoneError:
            self._fall_behind(consumer)
            return
        if pieces:
            self._heard = time.monotonic()
            self._contact.answered()
        for piece in pieces:
            piece.topic_id = self._ids.get(piece.topic)
            self._waiting += self._until_end(piece)

    def _until_end(self, piece: Messages) -> list[Messages]:
        """With stop=end, the part of a piece before the end that its partition had at the start."""
        if not self._options.stop:
            return [piece]
        count = int(np.searchsorted(piece.offsets, self._ends[piece.topic, piece.partition]))
        return [piece.between(0, count)] if count else []

    def _fall_behind(self, consumer: Consumer) -> None:
        """A position cannot be read any more: continue where there are records, if gaps are accepted."""
        self._check_ids(consumer)
        positions = consumer.positions(sorted(self._owned))
        offsets, lost = self._start.in_range(positions, consumer.extents(list(positions)))
        consumer.assign(offsets)
        self._began({part: offsets[part] for part in lost}, lost)

    def _check(self) -> None:
        """Now and then: where partitions end, whether there are new ones, whether a broker still answers."""
        now, consumer = time.monotonic(), self._consumer
        if now < self._next_check or consumer is None:
            return
        self._next_check = now + _CHECK_EVERY
        if now - self._heard >= _QUIET:
            self._heard = now
            asked = sorted(self._owned) or self._all(consumer)[:1]  # a member without partitions asks too
            self._highs |= {part: extent.high for part, extent in consumer.extents(asked).items()}
            self._contact.answered()
            self._check_ids(consumer)
        else:
            self._highs |= consumer.highs()
        self._measure(consumer)
        if not self._options.is_shared and not self._options.stop and now >= self._next_partitions:
            self._next_partitions = now + _NEW_PARTITIONS_EVERY
            self._take_all(consumer)

    def _measure(self, consumer: Consumer) -> None:
        """Where partitions began and end. Markers of transactions at the end do not count as waiting."""
        parts, at_end = sorted(self._owned), set()
        if not self._options.is_shared and not self._waiting:
            at_end = {part for part, at in consumer.positions(parts).items() if at >= self._highs.get(part, 0)}
        begins = {part: self._begun.get(part, 0) for part in parts}
        self._extent = {
            name(part): (begin, max(begin, (self._handed if part in at_end else self._highs).get(part, 0)))
            for part, begin in begins.items()
        }

    def _check_ids(self, consumer: Consumer) -> None:
        """Notice a topic that was deleted and created again."""
        for topic, before in self._ids.items():
            now = consumer.topic_id(topic)
            if None in (before, now) or before == now:
                continue
            self._start.recreated(topic)
            self._ids[topic] = now
            offsets = dict(consumer.positions(sorted(self._owned)))
            own = [part for part in self._owned if part[0] == topic]
            lows = {part: extent.low for part, extent in consumer.extents(own).items()}
            consumer.assign(offsets | lows)
            self._began(lows, dict.fromkeys(lows, 0))

    def _finished(self) -> bool:
        """With stop=end: whether every partition is read up to where it ended at the start."""
        if not self._options.stop or not self._started or self._consumer is None or self._waiting:
            return False
        positions = self._consumer.positions(list(self._ends))
        return all(positions[part] >= end for part, end in self._ends.items())

    def _taken(self, limit: int) -> list[Records]:
        taken: list[Records] = []
        while self._waiting and limit > 0:
            piece = self._waiting.popleft()
            if limit < len(piece):
                self._waiting.appendleft(piece.between(limit, len(piece)))
                piece = piece.between(0, limit)
            taken.append(piece)
            self._handed[piece.topic, piece.partition] = piece.position(len(piece))["offset"]
            limit -= len(piece)
        return taken
