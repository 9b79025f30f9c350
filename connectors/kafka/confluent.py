"""The client confluent-kafka, which is librdkafka."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from threading import Thread
from typing import Any

import numpy as np
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
    libversion,
)
from confluent_kafka.admin import AdminClient
from numpy.typing import NDArray

from connectors.kafka import own_settings
from connectors.kafka.client import (
    TOO_LARGE,
    Connection,
    Extent,
    OffsetGoneError,
    Part,
    Rebalance,
    RebalancingError,
    UnreachableError,
    check_listening,
)
from connectors.kafka.contact import Contact
from connectors.kafka.messages import Headers, Messages, from_lists
from connectors.kafka.options import SinkOptions, SourceOptions
from connectors.kafka.security import for_confluent
from streamlin.errors import ConfigError, ConnectorError

_LOG = logging.getLogger("confluent_kafka")
_LOG.addHandler(logging.NullHandler())  # or librdkafka writes to standard error in the midst of ours
_SECONDS = 5.0
_REBOOTSTRAPS = 0x020B0000
"""Librdkafka 2.11 drops brokers that are all away for the first ones it knew; transactions go on waiting for those that
it dropped (its issue 5511)."""
_SLICE = 1.0
"""Seconds that a producer waits until it tells that it does."""
_PAUSE = 0.05
_WINDOW = 50_000
"""Messages that may be on their way before more are handed over; librdkafka's queue, of twice as many, may refuse one
and take the next, which would be out of order then."""
_URL_SAFE = str.maketrans("+/", "-_")
"""From librdkafka's way to write a topic's id to Kafka's."""
_AWAY = {
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._WAIT_COORD,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.NOT_COORDINATOR,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._MAX_POLL_EXCEEDED,
}
"""What may be over the next time."""
_LARGE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE}
_GONE = {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE, KafkaError._LOG_TRUNCATION}
_ALERT = re.compile("SSL routines.*alert")
"""What the other side says of our certificate; it comes only after the handshake, like an interruption."""
_AROUND = re.compile(r"^(?:\w+://\S+: )?(?:SASL authentication error: )?|(?: \(after \d+ms in state .*)?$")
"""Of no use to people."""
_REFUSED = {
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError._SSL,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
}


def open_consumer(connection: Connection, options: SourceOptions, seconds: float) -> "ConfluentConsumer":
    """See `connectors.kafka.client.open_consumer`."""
    properties: dict[str, Any] = {
        "group.id": options.group or "streamlin",  # librdkafka wants one; without ours nothing is committed to it
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
        "allow.auto.create.topics": False,
        "partition.assignment.strategy": "cooperative-sticky",
        "enable.partition.eof": True,
        "max.poll.interval.ms": options.max_poll_interval_ms,
        "fetch.wait.max.ms": 500,
        "fetch.queue.backoff.ms": 5,  # once enough is fetched ahead; with its own 1,000 it runs dry meanwhile
        "topic.metadata.refresh.interval.ms": 30_000,
    }
    optional = {
        "group.instance.id": options.instance,
        "fetch.max.bytes": options.fetch_max_bytes,
        "max.partition.fetch.bytes": options.max_partition_fetch_bytes,
        "session.timeout.ms": options.session_timeout_ms,
        "heartbeat.interval.ms": options.heartbeat_interval_ms,
    }
    properties |= {name: value for name, value in optional.items() if value is not None}
    if options.fetch_max_bytes is not None:  # which must not be less than the longest message is, 1 MB by default
        properties["message.max.bytes"] = min(1_000_000, options.fetch_max_bytes)
    properties |= _common(connection) | own_settings.for_confluent(options.own)
    return ConfluentConsumer(connection, properties, seconds)


def open_producer(
    connection: Connection, options: SinkOptions, seconds: float, contact: Contact
) -> "ConfluentProducer":
    """See `connectors.kafka.client.open_producer`."""
    patience = int(connection.settings.get("give_up_after", 300) * 1000)  # it is the contact's to end it
    properties: dict[str, Any] = {
        "enable.idempotence": True,
        "acks": "all",
        "compression.type": options.compression,
        "linger.ms": options.linger_ms,
        "partitioner": "murmur2_random",
        "delivery.timeout.ms": max(60_000, 2 * patience),
        "delivery.report.only.error": True,
    }
    if options.transaction is not None:
        properties |= {"transactional.id": options.transaction, "transaction.timeout.ms": 900_000}
        properties["delivery.timeout.ms"] = min(properties["delivery.timeout.ms"], 900_000)
        if libversion()[1] >= _REBOOTSTRAPS:
            properties["metadata.recovery.strategy"] = "none"
    properties |= _common(connection) | own_settings.for_confluent(options.own)
    return ConfluentProducer(connection, options, properties, seconds, contact)


class _Client:
    """What consumer and producer have in common: librdkafka tells of trouble on the side."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._trouble: Any = None

    def note(self, error: Any) -> None:
        """librdkafka's error callback, on the thread that polls."""
        if error.code() in _REFUSED or error.fatal() or _ALERT.search(error.str()):
            self._trouble = error

    def check(self) -> None:
        """Raise what librdkafka can't get over by itself."""
        if self._trouble is not None:
            raise ConnectorError(f"the brokers at {self._connection.name} refuse: {_said(self._trouble)}")

    @contextmanager
    def translated(self) -> Iterator[None]:
        """librdkafka's errors as ours."""
        try:
            yield
        except KafkaException as error:
            self.check()
            raise translation(error.args[0], self._connection.name) from None

    def reach(self, handle: Any, seconds: float) -> None:
        """Return once a broker has answered. `handle` is a consumer, producer or admin client."""
        check_listening(self._connection.servers)
        deadline = time.monotonic() + seconds
        while True:
            try:
                handle.list_topics(timeout=min(0.5, seconds))
                return
            except KafkaException as error:
                with suppress(Exception):
                    handle.poll(0)
                self.check()
                if time.monotonic() >= deadline:
                    failure = translation(error.args[0], self._connection.name)
                    raise self._connection.silent() if isinstance(failure, UnreachableError) else failure from None


class ConfluentConsumer(_Client):
    """See `connectors.kafka.client.Consumer`."""

    def __init__(self, connection: Connection, properties: Mapping[str, Any], seconds: float) -> None:
        super().__init__(connection)
        self._consumer = _made(Consumer, {**properties, "on_commit": self._on_commit}, self.note)
        self._common = _common(connection)
        self._ends: dict[Part, int] = {}
        self._admin: AdminClient | None = None
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
            found = self._consumer.list_topics(topic, timeout=_SECONDS).topics.get(topic)
        return [] if found is None or found.error is not None else sorted(found.partitions)

    def topic_id(self, topic: str) -> str | None:
        if self._admin is None:
            self._admin = _made(AdminClient, self._common, self.note)
        with self.translated():
            described = self._admin.describe_topics(TopicCollection([topic]), request_timeout=_SECONDS)[topic].result()
        return str(described.topic_id).translate(_URL_SAFE)

    def extents(self, parts: Sequence[Part]) -> dict[Part, Extent]:
        with self.translated():
            return {
                part: Extent(*self._consumer.get_watermark_offsets(TopicPartition(*part), timeout=_SECONDS))
                for part in parts
            }

    def offsets_at(self, parts: Sequence[Part], time_ms: int) -> dict[Part, int]:
        with self.translated():
            found = self._consumer.offsets_for_times([TopicPartition(*part, time_ms) for part in parts], _SECONDS)
        ends = self.extents(parts)
        return {
            (one.topic, one.partition): one.offset if one.offset >= 0 else ends[one.topic, one.partition].high
            for one in found
        }

    def committed(self, parts: Sequence[Part]) -> dict[Part, int]:
        with self.translated():
            found = self._consumer.committed([TopicPartition(*part) for part in parts], _SECONDS)
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

    def tend(self) -> None:
        """There is nothing to do: `poll` never gives much more than was asked for, so it is called again soon."""

    def positions(self, parts: Sequence[Part]) -> dict[Part, int]:
        return {part: self._next.get(part, 0) for part in parts}

    def highs(self) -> dict[Part, int]:
        for part in self._next:
            with suppress(KafkaException):
                high = self._consumer.get_watermark_offsets(TopicPartition(*part), cached=True)[1]
                if high >= 0:  # else it has not heard of one yet
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
        deadline = time.monotonic() + _SECONDS  # with asynchronous=False librdkafka would wait for a broker for minutes
        with self.translated():
            while self._unanswered:
                self._consumer.poll(0.05)  # gives nothing that is needed any more, but calls back
                if time.monotonic() > deadline:
                    raise UnreachableError(f"the brokers at {self._connection.name} don't answer")
        if self._refused is not None:
            raise translation(self._refused, self._connection.name)

    def close(self, seconds: float) -> None:
        self._rebalance = None
        closing = Thread(target=self._close, name="streamlin-closing", daemon=True)
        closing.start()
        closing.join(seconds)  # without a broker librdkafka waits for minutes for an answer to its last commit

    def _close(self) -> None:
        with suppress(KafkaException, RuntimeError):
            self._consumer.close()

    def _messages(self, found: Sequence[Any]) -> list[Messages]:
        """Pieces of the messages, by partition; errors are raised."""
        errors = [message for message in found if message.error() is not None]
        if errors:
            found = [message for message in found if message.error() is None]
        by_part: dict[Part, list[Any]] = {}
        if len(self._next) == 1 and self._rebalance is None and found:
            by_part = {part: list(found) for part in self._next}
        else:
            for message in found:
                by_part.setdefault((message.topic(), message.partition()), []).append(message)
        # One may have come just before its partition was given away.
        pieces = [self._piece(part, messages) for part, messages in by_part.items() if part in self._next]
        for message in errors:
            self._said(message)
        return pieces

    def _said(self, message: Any) -> None:
        """What stands where a message could: the end of a partition, or an error."""
        error, part = message.error(), (message.topic(), message.partition())
        if error.code() == KafkaError._PARTITION_EOF:
            if part in self._next:
                self._next[part] = message.offset()
        elif error.code() in _GONE:
            self._raised = OffsetGoneError(error.str())
        elif not error.retriable() and error.code() not in _AWAY:
            self._raised = translation(error, self._connection.name)

    def _piece(self, part: Part, messages: Sequence[Any]) -> Messages:
        first, last = messages[0].offset(), messages[-1].offset()
        dense = last - first == len(messages) - 1  # offsets only grow
        offsets = range(first, last + 1) if dense else [message.offset() for message in messages]
        piece = from_lists(*part, offsets, [message.value() for message in messages], self._connection.longest)
        piece.begin = self._next.get(part, offsets[0])
        self._next[part] = offsets[-1] + 1
        piece.keys, piece.headers = _Column(messages, _key), _Column(messages, _headers)
        piece.times = _Column(messages, _time)
        epoch = messages[-1].leader_epoch()
        piece.leader_epoch = -1 if epoch is None else epoch
        return piece

    def _on_commit(self, error: Any, parts: Sequence[Any]) -> None:
        self._unanswered -= 1
        self._refused = error or next((part.error for part in parts if part.error is not None), None)

    def _on_assign(self, consumer: Any, parts: Sequence[Any]) -> None:
        named = _named(parts)
        self._unplaced.update(named)  # and are, if it can't be said where to begin: they are assigned then all the same
        self._guarded(lambda rebalance: self._begin(rebalance.assigned(named)))

    def _on_revoke(self, consumer: Any, parts: Sequence[Any]) -> None:
        self._guarded(lambda rebalance: rebalance.revoked(_named(parts)))
        self._unassigned(parts)

    def _on_lost(self, consumer: Any, parts: Sequence[Any]) -> None:
        self._guarded(lambda rebalance: rebalance.lost(_named(parts)))
        self._unassigned(parts)

    def _begin(self, offsets: Mapping[Part, int]) -> None:
        """Read these partitions, which the group has assigned, too."""
        self._next |= offsets
        self._unplaced -= offsets.keys()
        self._consumer.incremental_assign([TopicPartition(*part, offset) for part, offset in offsets.items()])

    def _unassigned(self, parts: Sequence[Any]) -> None:
        for part in _named(parts):
            self._unplaced.discard(part)
            self._next.pop(part, None)
            self._ends.pop(part, None)
        with suppress(KafkaException):
            self._consumer.incremental_unassign([TopicPartition(part.topic, part.partition) for part in parts])

    def _guarded(self, tell: Callable[[Rebalance], None]) -> None:
        """What is raised in librdkafka's callbacks is raised again by `poll`."""
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


class ConfluentProducer(_Client):
    """See `connectors.kafka.client.Producer`."""

    def __init__(
        self,
        connection: Connection,
        options: SinkOptions,
        properties: Mapping[str, Any],
        seconds: float,
        contact: Contact,
    ) -> None:
        super().__init__(connection)
        self._contact = contact
        self._producer = _made(Producer, properties, self.note)
        self._failure: Any = None
        self._group: Any = None
        self.reach(self._producer, seconds)
        if options.transaction is not None:
            self._insist(self._producer.init_transactions)

    def send(self, topic: str, keys: Sequence[str], lines: memoryview, bounds: NDArray[np.int64]) -> None:
        text, ends = bytes(lines), bounds.tolist()
        messages = [
            {"key": key, "value": text[begin : end - 1]} for key, (begin, end) in zip(keys, pairwise(ends), strict=True)
        ]
        while len(self._producer) > _WINDOW:
            self._wait(self._producer.poll, _PAUSE)
        while messages:
            with self.translated():
                sent = self._producer.produce_batch(topic, messages, on_delivery=self._delivered)
            if sent == len(messages):
                break
            self._wait(self._producer.poll, _PAUSE)
            messages = [{"key": m["key"], "value": m["value"]} for m in messages if "_error" in m]
        self._contact.made()  # there is room, so some have arrived
        self.serve()

    def send_one(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        while True:
            try:
                with self.translated():
                    self._producer.produce(topic, value, key, headers=list(headers), on_delivery=self._delivered)
                break
            except BufferError:
                self._wait(self._producer.poll, _PAUSE)
        self._contact.made()

    def flush(self) -> None:
        while len(self._producer):
            self._wait(self._producer.flush, _SLICE)
        self.serve()

    def serve(self) -> None:
        self._producer.poll(0)
        self.check()
        if self._failure is not None:  # for good: to go on without the message would lose it
            name = self._connection.name
            raise ConnectorError(f"the brokers at {name} have not taken a message: {_said(self._failure)}")

    def group_offsets(self, group: str) -> dict[Part, int]:
        # An admin client could list them, but crashes (in librdkafka) where the group's coordinator is being chosen.
        consumer = _made(Consumer, _common(self._connection) | {"group.id": group}, self.note)
        try:
            with self.translated():
                topics = consumer.list_topics(timeout=_SECONDS).topics
                parts = [TopicPartition(name, number) for name in topics for number in topics[name].partitions]
                found = consumer.committed(parts, _SECONDS) if parts else []
                for one in found:
                    if one.error is not None:
                        raise KafkaException(one.error)
        finally:
            consumer.close()
        return {(one.topic, one.partition): one.offset for one in found if one.offset >= 0}

    def begin(self) -> None:
        with self.translated():
            self._producer.begin_transaction()

    def commit(self, group: str, positions: Mapping[Part, int]) -> None:
        if positions:
            offsets = [TopicPartition(*part, offset) for part, offset in positions.items()]
            if self._group is None:
                self._group = _group_metadata(self._connection, group)
            self._insist(self._producer.send_offsets_to_transaction, offsets, self._group)
        self._insist(self._producer.commit_transaction)
        self.serve()

    def close(self) -> None:
        with suppress(KafkaException):
            self._producer.purge()
            self._producer.flush(0.1)

    def _wait(self, wait: Callable[[float], Any], seconds: float) -> None:
        """For messages to arrive, by a method of the client."""
        before = len(self._producer)
        wait(seconds)
        self.serve()
        if len(self._producer) < before:
            self._contact.made()
        else:
            self._contact.lost(UnreachableError(f"the brokers at {self._connection.name} don't answer"))

    def _insist(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Do a step of a transaction, which goes on where it was when it is called again."""
        while True:
            try:
                self._do(call, *arguments)
                self._contact.made()
                return
            except UnreachableError as error:
                self._contact.lost(error)

    def _do(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Do it on a thread of its own: without a broker librdkafka waits longer than it is told to."""
        failed: list[KafkaException] = []

        def attempt() -> None:
            try:
                call(*arguments, _SECONDS)
            except KafkaException as error:
                failed.append(error)

        thread = Thread(target=attempt, daemon=True)
        thread.start()
        thread.join(_SLICE)
        while thread.is_alive():
            self._contact.lost(UnreachableError(f"the brokers at {self._connection.name} don't answer"))
            thread.join(_SLICE)
        with self.translated():
            if failed:
                raise failed[0]

    def _delivered(self, error: Any, _: Any) -> None:
        if error is not None and self._failure is None:
            self._failure = error


def translation(error: Any, name: str) -> Exception:
    """An error of librdkafka as ours."""
    if error.code() in _GONE:
        return OffsetGoneError(error.str())
    if error.code() in (KafkaError.REBALANCE_IN_PROGRESS, KafkaError.ILLEGAL_GENERATION):
        return RebalancingError(f"the group at {name} is changing")
    if error.code() in _AWAY or error.retriable():
        return UnreachableError(f"the brokers at {name} don't answer: {_said(error)}")
    return ConnectorError(f"the brokers at {name} refuse: {_said(error)}")


def _common(connection: Connection) -> dict[str, Any]:
    """Properties of every handle."""
    return {
        "bootstrap.servers": ",".join(connection.servers),
        "socket.keepalive.enable": True,
        "reconnect.backoff.max.ms": 1000,
        "socket.nagle.disable": True,
        **for_confluent(connection.settings),
    }


def _made(kind: Any, properties: Mapping[str, Any], note: Callable[[Any], None]) -> Any:
    """A consumer, producer or admin client. Raises ConfigError where librdkafka refuses a property."""
    try:
        return kind({**properties, "error_cb": note}, logger=_LOG)
    except (KafkaException, TypeError, ValueError) as error:
        said = _said(error.args[0] if isinstance(error, KafkaException) else error)
        raise ConfigError(f"kafka: confluent-kafka refuses a setting: {said}") from None


def _group_metadata(connection: Connection, group: str) -> Any:
    """What a transaction needs to name a group, for a producer that is no member of it."""
    consumer = Consumer({**_common(connection), "group.id": group}, logger=_LOG)
    try:
        return consumer.consumer_group_metadata()
    finally:
        consumer.close()


def _said(error: Any) -> str:
    """In one line."""
    if isinstance(error, KafkaError) and error.code() in _LARGE:
        return f"a message, or its batch, {TOO_LARGE}; with client.batch.size=10000 batches are smaller"
    said = " ".join(str(error.str() if isinstance(error, KafkaError) else error).split())
    return _AROUND.sub("", said)


def _named(parts: Sequence[Any]) -> list[Part]:
    return sorted((part.topic, part.partition) for part in parts)


def _key(message: Any) -> Any:
    return message.key()


def _headers(message: Any) -> Any:
    """None where a name is no UTF-8: confluent-kafka gives none of them then."""
    try:
        return message.headers() or []
    except (SystemError, UnicodeDecodeError):
        return []


def _time(message: Any) -> Any:
    return message.timestamp()[1]


class _Column(Sequence[Any]):
    """Something of each message, taken when it is asked for."""

    def __init__(self, messages: Sequence[Any], take: Callable[[Any], Any]) -> None:
        self._messages, self._take = messages, take

    def __len__(self) -> int:
        return len(self._messages)

    def __getitem__(self, i: Any) -> Any:
        return self._take(self._messages[i])
