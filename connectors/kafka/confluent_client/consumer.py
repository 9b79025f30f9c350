"""Reading with confluent-kafka."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from threading import Thread
from typing import Any

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from connectors.kafka.client import Extent, Part, Rebalance
from connectors.kafka.confluent_client.librdkafka import (
    AWAY,
    GONE,
    SECONDS,
    Client,
    common,
    create,
    parts_of,
    translation,
)
from connectors.kafka.connection import Connection
from connectors.kafka.errors import OffsetGoneError, UnreachableError
from connectors.kafka.messages import Fields, Messages, from_records
from streamlin.errors import ConnectorError

_OLDER = "the brokers at {} know less than before, as if restored from an older copy; start the run again"
_URL_SAFE = str.maketrans("+/", "-_")
"""From librdkafka's spelling of a topic's id to Kafka's."""


class ConfluentConsumer(Client):
    """See `connectors.kafka.client.Consumer`."""

    def __init__(self, connection: Connection, properties: Mapping[str, Any], seconds: float) -> None:
        super().__init__(connection)
        self._consumer = create(Consumer, {**properties, "on_commit": self._on_commit}, self.note)
        self._ends: dict[Part, int] = {}
        self._rebalance: Rebalance | None = None
        self._unplaced: set[Part] = set()
        self._unanswered = 0
        self._refused: Any = None
        self._raised: Exception | None = None
        self._next: dict[Part, int] = {}
        try:
            self.reach(self._consumer, seconds)
        except BaseException:
            self._consumer.close()
            raise

    def partitions(self, topic: str) -> list[int]:
        with self.translated():
            found = self._consumer.list_topics(topic, timeout=SECONDS).topics.get(topic)
        return [] if found is None or found.error is not None else sorted(found.partitions)

    def topic_id(self, topic: str) -> str | None:
        with self.translated():
            described = self._admin.describe_topics(TopicCollection([topic]), request_timeout=SECONDS)[topic].result()
        return str(described.topic_id).translate(_URL_SAFE)

    @cached_property
    def _admin(self) -> AdminClient:
        admin: AdminClient = create(AdminClient, common(self._connection), self.note)
        return admin

    def log_ends(self, parts: Sequence[Part]) -> dict[Part, int]:
        latest: Any = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        how: dict[str, Any] = {"isolation_level": IsolationLevel.READ_UNCOMMITTED, "request_timeout": SECONDS}
        with self.translated():
            asked = self._admin.list_offsets({TopicPartition(*part): latest for part in parts}, **how)
            return {(part.topic, part.partition): future.result().offset for part, future in asked.items()}

    def extents(self, parts: Sequence[Part]) -> dict[Part, Extent]:
        with self.translated():
            try:
                return {part: self._extent(part) for part in parts}
            except KafkaException as error:
                if error.args[0].code() != KafkaError._UNKNOWN_PARTITION:
                    raise
            try:
                self._consumer.list_topics(timeout=SECONDS)  # a broker that had just started may not have known it
                return {part: self._extent(part) for part in parts}
            except KafkaException as error:
                # librdkafka ignores what brokers say of an earlier epoch than it has heard of, for good.
                if error.args[0].code() == KafkaError._UNKNOWN_PARTITION and all(map(self._is_known, parts)):
                    raise ConnectorError(_OLDER.format(self._connection.name)) from None
                raise

    def _extent(self, part: Part) -> Extent:
        return Extent(*self._consumer.get_watermark_offsets(TopicPartition(*part), timeout=SECONDS))

    def _is_known(self, part: Part) -> bool:
        """Whether the brokers say now that there is such a partition."""
        return part[1] in self.partitions(part[0])

    def offsets_at(self, parts: Sequence[Part], time_ms: int) -> dict[Part, int]:
        with self.translated():
            found = self._consumer.offsets_for_times([TopicPartition(*part, time_ms) for part in parts], SECONDS)
        ends = self.extents(parts)
        return {
            (one.topic, one.partition): one.offset if one.offset >= 0 else ends[one.topic, one.partition].high
            for one in found
        }

    def committed(self, parts: Sequence[Part]) -> dict[Part, int]:
        with self.translated():
            found = self._consumer.committed([TopicPartition(*part) for part in parts], SECONDS)
        return {(one.topic, one.partition): one.offset for one in found if one.offset >= 0}

    def assign(self, offsets: Mapping[Part, int]) -> None:
        with self.translated():
            if self._rebalance is not None:
                self._consumer.incremental_unassign([TopicPartition(*part) for part in offsets])
                self._begin(offsets)
                return
            self._next = dict(offsets)
            self._consumer.assign([TopicPartition(*part, offset) for part, offset in offsets.items()])

    def subscribe(self, topics: Sequence[str], rebalance: Rebalance) -> None:
        self._rebalance = rebalance
        with self.translated():
            self._consumer.subscribe(
                list(topics), on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
            )

    def poll(self, limit: int, seconds: float) -> list[Messages]:
        self._check_callbacks()
        if self._unplaced and self._rebalance is not None:
            self.assign(self._rebalance.assigned(sorted(self._unplaced)))
        with self.translated():
            first = self._consumer.poll(seconds)
            found = [] if first is None else [first]
            if found and limit > 1:
                found += self._consumer.consume(limit - 1, 0)
        pieces = self._messages(found)
        if not pieces:
            self._check_callbacks()
        self.check()
        return pieces

    def positions(self, parts: Sequence[Part]) -> dict[Part, int]:
        return {part: self._next.get(part, 0) for part in parts}

    def highs(self) -> dict[Part, int]:
        for part in self._next:
            with suppress(KafkaException):
                high = self._consumer.get_watermark_offsets(TopicPartition(*part), cached=True)[1]
                if high >= 0:  # else it does not know one yet
                    self._ends[part] = max(high, self._next[part])
        return self._ends

    def commit_soon(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        offsets = [
            TopicPartition(*part, position["offset"], metadata=metadata, leader_epoch=position.get("leader_epoch", -1))
            for part, position in positions.items()
        ]
        with self.translated():
            self._consumer.commit(offsets=offsets, asynchronous=True)
        self._unanswered += 1

    def commit(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        self.commit_soon(positions, metadata)
        deadline = time.monotonic() + SECONDS  # with asynchronous=False librdkafka would wait for a broker for minutes
        with self.translated():
            while self._unanswered:
                self._consumer.poll(0.05)  # its messages are not needed any more, but it calls back
                if time.monotonic() > deadline:
                    raise UnreachableError(f"the brokers at {self._connection.name} don't answer")
        if self._refused is not None:
            raise translation(self._refused, self._connection.name)

    def close(self, seconds: float) -> None:
        self._rebalance = None
        closing = Thread(target=self._close, name="streamlin-closing", daemon=True)
        closing.start()
        closing.join(seconds)  # without a broker librdkafka waits for minutes for the answer to its last commit

    def _close(self) -> None:
        with suppress(KafkaException, RuntimeError):
            self._consumer.close()

    def _messages(self, found: Sequence[Any]) -> list[Messages]:
        """The messages as one piece a partition; the next poll raises errors."""
        errors = []
        if any(map(Message.error, found)):
            errors = [message for message in found if message.error() is not None]
            found = [message for message in found if message.error() is None]
        by_part: dict[Part, list[Any]] = {}
        if len(self._next) == 1 and self._rebalance is None and found:
            by_part = {part: list(found) for part in self._next}
        else:
            for message in found:
                by_part.setdefault((message.topic(), message.partition()), []).append(message)
        # A message may have come just before its partition was revoked.
        pieces = [self._piece(part, messages) for part, messages in by_part.items() if part in self._next]
        for message in errors:
            self._note_event(message)
        return pieces

    def _note_event(self, message: Any) -> None:
        """Note an event that comes in place of a message: the end of a partition, or an error."""
        error, part = message.error(), (message.topic(), message.partition())
        if error.code() == KafkaError._PARTITION_EOF:
            if part in self._next:
                self._next[part] = message.offset()
        elif error.code() in GONE:
            self._raised = OffsetGoneError(error.str())
        elif not error.retriable() and error.code() not in AWAY:
            self._raised = translation(error, self._connection.name)

    def _piece(self, part: Part, messages: Sequence[Any]) -> Messages:
        begin = self._next.get(part, messages[0].offset())
        self._next[part] = messages[-1].offset() + 1
        return from_records(*part, messages, _FIELDS, begin, self._connection.longest)

    def _on_commit(self, error: Any, parts: Sequence[Any]) -> None:
        self._unanswered -= 1
        self._refused = error or next((part.error for part in parts if part.error is not None), None)

    def _on_assign(self, consumer: Any, parts: Sequence[Any]) -> None:
        named = parts_of(parts)
        self._unplaced.update(named)  # they stay so if their offsets cannot be found out now
        self._guarded(lambda rebalance: self._begin(rebalance.assigned(named)))

    def _on_revoke(self, consumer: Any, parts: Sequence[Any]) -> None:
        self._guarded(lambda rebalance: rebalance.revoked(parts_of(parts)))
        self._unassigned(parts)

    def _on_lost(self, consumer: Any, parts: Sequence[Any]) -> None:
        self._guarded(lambda rebalance: rebalance.lost(parts_of(parts)))
        self._unassigned(parts)

    def _begin(self, offsets: Mapping[Part, int]) -> None:
        """Also read these partitions, which the group has assigned."""
        self._next |= offsets
        self._unplaced -= offsets.keys()
        self._consumer.incremental_assign([TopicPartition(*part, offset) for part, offset in offsets.items()])

    def _unassigned(self, parts: Sequence[Any]) -> None:
        for part in parts_of(parts):
            self._unplaced.discard(part)
            self._next.pop(part, None)
            self._ends.pop(part, None)
        with suppress(KafkaException):
            self._consumer.incremental_unassign([TopicPartition(part.topic, part.partition) for part in parts])

    def _guarded(self, tell: Callable[[Rebalance], None]) -> None:
        """The next poll raises what librdkafka's callbacks raise."""
        if self._rebalance is None:
            return
        try:
            tell(self._rebalance)
        except Exception as error:
            self._raised = error

    def _check_callbacks(self) -> None:
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised


def _headers(message: Any) -> Any:
    """Empty if a name is not UTF-8: confluent-kafka then gives none of a message's headers."""
    try:
        return message.headers() or []
    except (SystemError, UnicodeDecodeError):
        return []


def _time(message: Any) -> Any:
    return message.timestamp()[1]


_FIELDS = Fields(
    offset=Message.offset,
    value=Message.value,
    key=Message.key,
    headers=_headers,
    time=_time,
    leader_epoch=Message.leader_epoch,
)
