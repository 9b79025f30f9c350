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
from connectors.kafka.open_transactions import OpenTransactions
from connectors.kafka.opening import open_consumer
from connectors.kafka.options import source_options
from connectors.kafka.poll_limit import PollLimit
from connectors.kafka.start_offsets import Begin, StartOffsets, name
from streamlin.errors import ConfigError, ConnectorError
from streamlin.events import Position, Records, SourceContext

_PAUSE = 0.05
"""Seconds that a poll waits for messages."""
_CHECK_EVERY = 0.5
"""Seconds between two checks of where the partitions end, and whether a broker still answers."""
_QUIET = 2.0
"""Seconds without a message after which a request shows whether a broker still answers."""
_SLOW = 1.0
"""Seconds after which an answer may be that of a broker that was away meanwhile."""
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
        self._open = OpenTransactions(context.notice)
        self._poll_limit = PollLimit(self._options.max_poll_interval_ms / 1000)
        self._waiting: deque[Messages] = deque()
        self._started = self._is_uncertain = False
        self._owned: set[Part] = set()
        self._ids: dict[str, str | None] = {}
        self._begun: dict[Part, int] = {}
        self._places: dict[Part, Position] = {}
        self._to_compare: dict[Part, Sequence[int] | None] = {}
        self._known: Mapping[str, Position] | None = None
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

    @classmethod
    def parts(cls, address: str, context: SourceContext) -> list[str]:
        """See `streamlin.events.Source`; connects, and waits for the topics as when they are read.

        Raises
        ------
        ConfigError : the partitions are shared with a group. ConnectorError : no broker or topic in time.
        """
        source = cls(address, context)
        if source._options.is_shared:
            raise ConfigError("kafka source: shards need assignment=all: a group's partitions come and go")
        try:
            while (consumer := source._contact.retry(source._connected, _PAUSE)) is None:
                time.sleep(_PAUSE)
            return [name(part) for part in source._all(consumer)]
        finally:
            source.close()

    def _connected(self) -> Consumer | None:
        """A consumer, once the topics exist. Raises UnreachableError if no broker answers."""
        if self._consumer is None:
            self._consumer = open_consumer(self._connection, self._options, self._contact.patience())
            self._contact.answered()
        return self._consumer if self._started or self._start.all_exist(self._consumer) else None

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
                with suppress(UnreachableError):  # then the lag is what was known last
                    self._highs |= self._readable_ends(self._consumer, sorted(self._owned))
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
        """Positions in own partitions, but none from before another member had them: it is further by now.

        Where nothing was read yet, it is where reading began: with `start=latest` later members begin there, too.
        """
        if self._options.group is None or self._known is None:
            return {}
        known = {part: self._known.get(name(part), {"offset": self._begun[part]}) for part in self._owned}
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
        begins = self._start.begins(self._consumer, parts)
        offsets = self._began(begins)
        self._owned |= begins.keys()
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
        consumer = self._connected()
        if consumer is None:
            return False
        if not self._started:
            self._ids = {topic: consumer.topic_id(topic) for topic in self._address.topics}
            self._start.first(consumer, self._all(consumer))
            if self._options.is_shared:
                consumer.subscribe(self._address.topics, self)
            else:
                self._take_all(consumer)
            self._started = True
            self._heard = time.monotonic()
        return True

    def _all(self, consumer: Consumer) -> list[Part]:
        """The partitions to read. Raises ConnectorError for one that nobody reads."""
        parts = [(topic, number) for topic in self._address.topics for number in consumer.partitions(topic)]
        share = self._context.share
        if share is None:
            return parts
        for part in parts:
            if name(part) not in share.all:
                raise ConnectorError(f"partition {name(part)} was added, which no shard reads; stop, and begin anew")
        return [part for part in parts if name(part) in share.own]

    def _take_all(self, consumer: Consumer) -> None:
        """Read all partitions, including new ones."""
        parts = self._all(consumer)
        new = [part for part in parts if part not in self._owned]
        if not new:
            return
        begins = self._start.begins(consumer, new)
        log_ends = consumer.log_ends(new) if self._options.stop else {}
        ends = self._readable_ends(consumer, new)
        self._highs |= ends
        if self._options.stop and not self._started:
            self._ends = ends
            self._open.ends(ends, log_ends)
        self._begin(consumer, begins)
        self._owned |= set(new)
        self._next_partitions = time.monotonic() + _NEW_PARTITIONS_EVERY

    def _begin(self, consumer: Consumer, begins: Mapping[Part, Begin]) -> None:
        """Read these partitions from where they begin, the others from where they are."""
        others = consumer.positions(sorted(self._owned)) if self._owned else {}
        consumer.assign(dict(others) | self._began(begins))
        anew = [part for part in self._ends if part in begins and begins[part].anew]
        self._ends |= self._readable_ends(consumer, anew) if anew else {}

    def _readable_ends(self, consumer: Consumer, parts: Sequence[Part]) -> dict[Part, int]:
        return {part: extent.high for part, extent in consumer.extents(parts).items()}

    def _began(self, begins: Mapping[Part, Begin]) -> dict[Part, int]:
        """The offsets to read from. Pieces without messages report what is lost, and what the checkpoint has not."""
        for part, begin in begins.items():
            self._places[part] = {"offset": begin.offset, "last": begin.last}
            self._to_compare[part] = begin.last
            changed = begin.lost or begin.anew
            if changed or part not in self._owned:
                self._begun[part] = begin.offset
                if changed or name(part) not in self._context.positions:
                    piece = beginning(*part, begin.offset, begin.lost, begin.anew)
                    piece.topic_id = self._ids.get(part[0])
                    self._waiting.append(piece)
        return {part: begin.fetched for part, begin in begins.items()}

    def _fill(self, limit: int) -> None:
        """Take what has come. If it is little, wait before the next poll: a poll costs more than learning."""
        consumer = self._consumer
        assert consumer is not None
        if self._is_uncertain:
            self._look_again(consumer)
        rest = self._gather_until - time.monotonic()
        if rest > 0:
            time.sleep(rest)
        try:
            pieces = consumer.poll(limit, _PAUSE)
            few = 0 < sum(map(len, pieces)) < limit
            self._gather_until = time.monotonic() + self._options.max_batch_wait_ms / 1000 if few else 0.0
        except OffsetGoneError:
            self._is_uncertain = True
            return
        if not pieces:
            return
        self._heard = time.monotonic()
        if self._contact.answered():
            self._is_uncertain = True
            return
        for piece in pieces:
            piece.topic_id = self._ids.get(piece.topic)
            if len(piece := self._compared(consumer, piece)):
                self._places[piece.topic, piece.partition] = piece.position(len(piece))
                self._waiting += self._until_end(piece)

    def _compared(self, consumer: Consumer, piece: Messages) -> Messages:
        """Without the last record of before, which is read again to see whether it is still the same.

        Offsets alone do not tell: a topic that was restored from an older copy may have grown past the position since.
        """
        part = piece.topic, piece.partition
        last, offset = self._to_compare.pop(part, None), self._places[part]["offset"]
        if last is None or piece.offsets[0] >= offset:  # it may be compacted away
            return piece
        if piece.last(0) == list(last):
            return piece.between(1, len(piece))
        self._is_uncertain = True  # of what comes behind it, too, if no broker answers now
        low, high = consumer.extents([part])[part]
        found = f"{name(part)} has changed: offset {last[0]:,} has another record than the one that was read; "
        found += f"it ends at offset {high:,}, reading was to continue at {offset:,}"
        self._begin(consumer, {part: self._start.anew(part, found, low)})
        return piece.between(0, 0)

    def _until_end(self, piece: Messages) -> list[Messages]:
        """With stop=end, the part of a piece before the end that its partition had at the start."""
        if not self._options.stop:
            return [piece]
        count = int(np.searchsorted(piece.offsets, self._ends[piece.topic, piece.partition]))
        return [piece.between(0, count)] if count else []

    def _look_again(self, consumer: Consumer) -> None:
        """A position can't be read any more, or the brokers were away: see whether the partitions are the same."""
        self._check_ids(consumer)
        places = {part: self._places[part] for part in consumer.positions(sorted(self._owned))}
        self._begin(consumer, self._start.in_range(places, consumer.extents(list(places))))
        self._is_uncertain = False

    def _check(self) -> None:
        """Now and then: where partitions end, whether there are new ones, whether a broker still answers."""
        now, consumer = time.monotonic(), self._consumer
        if now < self._next_check or consumer is None:
            return
        self._next_check = now + _CHECK_EVERY
        if now - self._heard >= _QUIET:
            self._heard = now
            asked = sorted(self._owned) or self._all(consumer)[:1]  # a member without partitions asks too
            ends = self._readable_ends(consumer, asked)
            self._highs |= ends
            self._open.asked(ends, consumer.highs())
            slow = time.monotonic() - now > _SLOW
            self._is_uncertain |= self._contact.answered() or slow
            self._check_ids(consumer)
        else:
            self._highs |= self._open.readable(self._places, consumer.highs())
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
            own = [part for part in self._owned if part[0] == topic]
            self._begin(consumer, {part: Begin(low, anew=True) for part, (low, _) in consumer.extents(own).items()})

    def _finished(self) -> bool:
        """With stop=end: whether every partition is read up to where it ended at the start."""
        if not self._options.stop or not self._started or self._consumer is None:
            return False
        if self._waiting or self._is_uncertain:  # then what was fetched was not handed over, and is read once more
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
