"""The client kafka-python."""

import logging
import re
from base64 import urlsafe_b64encode
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import kafka.errors as errors
import numpy as np
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient
from kafka.consumer.fetcher import Fetcher
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.structs import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition
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
from connectors.kafka.messages import Headers, Messages
from connectors.kafka.options import SinkOptions, SourceOptions
from connectors.kafka.python_client.codecs import check_compression, unreadable
from connectors.kafka.python_client.connecting import Client
from connectors.kafka.python_client.partitioner import partitions_of
from connectors.kafka.python_client.produced_batches import BatchedProducer, Column
from connectors.kafka.python_client.rebalancing import Membership
from connectors.kafka.python_client.record_batches import batch_of, messages_of
from connectors.kafka.python_client.sockets import close_what_fails
from connectors.kafka.security import for_kafka_python
from streamlin.errors import ConfigError, ConnectorError

logging.getLogger("kafka").addHandler(logging.NullHandler())  # or Python prints its warnings in the midst of ours
close_what_fails()

_REQUEST_SECONDS = 5.0
_CLASSES = re.compile(r"^(?:\[Error \w+\] )?(?:\w+Error(?:: |$))*")
_SLICE = 1.0
"""Seconds that a producer waits until it tells that it does."""
_BATCH_BYTES = 256 * 1024
"""Of a produced batch. With the client's own 16 KiB it wakes its sender for almost every message."""
_WINDOW = 32 * _BATCH_BYTES
"""Bytes of messages that may be on their way; a broker that is slow must not fill the memory."""


def open_consumer(connection: Connection, options: SourceOptions, seconds: float) -> "PythonConsumer":
    """See `connectors.kafka.client.open_consumer`."""
    arguments: dict[str, Any] = {
        "bootstrap_servers": list(connection.servers),
        "bootstrap_timeout_ms": int(seconds * 1000),
        "group_id": options.group,
        "group_instance_id": options.instance,
        "enable_auto_commit": False,
        "auto_offset_reset": "none",
        "isolation_level": "read_committed",
        "allow_auto_create_topics": False,
        "partition_assignment_strategy": [CooperativeStickyAssignor],
        "max_poll_interval_ms": options.max_poll_interval_ms,
        "reconnect_backoff_max_ms": 1000,
        "metadata_max_age_ms": 30_000,
        "metrics_enabled": False,
        **for_kafka_python(connection.settings),
    }
    sizes = {
        "fetch_max_bytes": options.fetch_max_bytes,
        "max_partition_fetch_bytes": options.max_partition_fetch_bytes,
        "session_timeout_ms": options.session_timeout_ms,
        "heartbeat_interval_ms": options.heartbeat_interval_ms,
    }
    arguments |= {name: value for name, value in sizes.items() if value is not None}
    arguments |= own_settings.for_kafka_python(options.own, KafkaConsumer.DEFAULT_CONFIG)
    return PythonConsumer(_made(KafkaConsumer, connection, arguments), connection)


def open_producer(connection: Connection, options: SinkOptions, seconds: float, contact: Contact) -> "PythonProducer":
    """See `connectors.kafka.client.open_producer`."""
    check_compression(options.compression)
    patience = int(connection.settings.get("give_up_after", 300) * 1000)  # it is the contact's to end it
    arguments: dict[str, Any] = {
        "bootstrap_servers": list(connection.servers),
        "bootstrap_timeout_ms": int(seconds * 1000),
        "acks": "all",
        "enable_idempotence": True,
        "compression_type": None if options.compression == "none" else options.compression,
        "linger_ms": options.linger_ms,
        "batch_size": _BATCH_BYTES,
        "delivery_timeout_ms": max(2 * patience, 60_000) + options.linger_ms,
        "max_block_ms": _SLICE * 1000,
        "reconnect_backoff_max_ms": 1000,
        "metrics_enabled": False,
        **for_kafka_python(connection.settings),
    }
    if options.transaction is not None:
        arguments |= {"transactional_id": options.transaction, "transaction_timeout_ms": 900_000}
    arguments |= own_settings.for_kafka_python(options.own, KafkaProducer.DEFAULT_CONFIG)
    return PythonProducer(_made(KafkaProducer, connection, arguments), connection, options, contact)


class PythonConsumer:
    """See `connectors.kafka.client.Consumer`."""

    def __init__(self, consumer: KafkaConsumer, connection: Connection) -> None:
        self._consumer, self._name, self._longest = consumer, connection.name, connection.longest
        self._highs: dict[Part, int] = {}
        self._membership: Membership | None = None
        consumer._fetcher.PartitionRecords = _WholeBatches
        self._cluster = consumer._cluster
        self._cluster.config["allow_auto_create_topics"] = False  # it is not handed on, so a deleted topic came back

    def partitions(self, topic: str) -> list[int]:
        with _translated(self._name):
            return sorted(self._consumer.partitions_for_topic(topic) or ())

    def topic_id(self, topic: str) -> str | None:
        if topic in self._cluster._topics:  # what it knows of it may be half a minute old
            with _translated(self._name):
                update = self._cluster.request_update()
                self._consumer._net.run(self._consumer._manager.wait_for, update, _REQUEST_SECONDS * 1000)
        found = self._cluster.topic_id(topic)
        return None if found is None else urlsafe_b64encode(found.bytes).rstrip(b"=").decode()  # as Kafka writes it

    def extents(self, parts: Sequence[Part]) -> dict[Part, Extent]:
        wanted = [TopicPartition(*part) for part in parts]
        with _translated(self._name):
            lows = self._consumer.beginning_offsets(wanted, timeout_ms=int(_REQUEST_SECONDS * 1000))
            highs = self._consumer.end_offsets(wanted, timeout_ms=int(_REQUEST_SECONDS * 1000))
        return {tuple(part): Extent(lows[part], highs[part]) for part in wanted}

    def offsets_at(self, parts: Sequence[Part], time_ms: int) -> dict[Part, int]:
        wanted = {TopicPartition(*part): time_ms for part in parts}
        with _translated(self._name):
            found = self._consumer.offsets_for_times(wanted, timeout_ms=int(_REQUEST_SECONDS * 1000))
            ends = self._consumer.end_offsets(list(wanted), timeout_ms=int(_REQUEST_SECONDS * 1000))
        return {tuple(part): ends[part] if found.get(part) is None else found[part].offset for part in wanted}

    def committed(self, parts: Sequence[Part]) -> dict[Part, int]:
        with _translated(self._name):
            found = {
                part: self._consumer.committed(TopicPartition(*part), timeout_ms=int(_REQUEST_SECONDS * 1000))
                for part in parts
            }
        return {part: offset for part, offset in found.items() if offset is not None and offset >= 0}

    def assign(self, offsets: Mapping[Part, int]) -> None:
        with _translated(self._name):
            if self._membership is None:
                self._consumer.assign([TopicPartition(*part) for part in offsets])
            for part, offset in offsets.items():
                self._consumer.seek(TopicPartition(*part), offset)

    def subscribe(self, topics: Sequence[str], rebalance: Rebalance) -> None:
        self._membership = Membership(self._consumer, rebalance)
        with _translated(self._name):
            self._consumer.subscribe(list(topics), listener=self._membership)

    def poll(self, limit: int, seconds: float) -> list[Messages]:
        with self._as_member():
            found = self._consumer.poll(int(seconds * 1000), max_records=limit)
        messages = []
        for part, pieces in found.items():
            self._highs[tuple(part)] = self._consumer.highwater(part) or 0
            batches, begin = [piece.value for piece in pieces], pieces[0].timestamp  # see _Record
            messages.append(messages_of(batches, part.topic, part.partition, begin, self._longest))
        return messages

    def tend(self) -> None:
        if self._membership is not None:
            with self._as_member():
                self._consumer._coordinator.poll(timeout_ms=0)

    def positions(self, parts: Sequence[Part]) -> dict[Part, int]:
        # Its own `position` asks brokers, and raises what only `poll` should.
        known = self._consumer._subscription.assignment
        states = {part: known.get(TopicPartition(*part)) for part in parts}
        return {part: state.position.offset for part, state in states.items() if state and state.position}

    def highs(self) -> dict[Part, int]:
        return self._highs

    def commit_soon(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        if self._membership is None or not self._membership.is_joining:
            with _translated(self._name):
                self._consumer.commit_async(_committable(positions, metadata))

    def commit(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        changing = RebalancingError(f"the group at {self._name} is changing")
        if self._membership is not None and self._membership.is_joining:
            raise changing
        with _translated(self._name):
            try:
                self._consumer.commit(_committable(positions, metadata), timeout_ms=int(_REQUEST_SECONDS * 1000))
            except errors.CommitFailedError as error:
                if isinstance(error.args[0], errors.RebalanceInProgressError):
                    raise changing from None
                raise

    def close(self, seconds: float) -> None:
        if self._membership is not None:
            self._membership.leaving = True
        with suppress(errors.KafkaError):
            self._consumer.close(timeout_ms=int(seconds * 1000))

    @contextmanager
    def _as_member(self) -> Iterator[None]:
        """Before more is read, all has its place; what goes wrong with a change of the group is raised as it was."""
        member = self._membership
        with _translated(self._name):
            try:
                if member is not None:
                    member.go_on()
                yield
            except errors.KafkaError:
                if member is None or member.failure is None:
                    raise
                failure, member.failure = member.failure, None
                raise failure from None


class _WholeBatches(Fetcher.PartitionRecords):  # type: ignore[misc]  # kafka-python has no types
    """Gives batches where kafka-python would give records; CRCs, aborted transactions and markers are left to it."""

    def _unpack_records(self, tp: TopicPartition, records: Any, *deserializers: Any) -> Any:
        return super()._unpack_records(tp, _Batches(records, self.fetch_offset), *deserializers)


class _Batches:
    """The batches of a fetch, each of which seems to hold a single record."""

    def __init__(self, records: Any, fetch_offset: int) -> None:
        self._records, self._fetch_offset = records, fetch_offset

    def next_batch(self) -> Any:
        batch = self._records.next_batch()
        if batch is not None and batch.magic < 2:
            raise ConnectorError("messages in a format older than Kafka 0.11 need client=confluent")
        return None if batch is None else _Batch(batch, self._fetch_offset)


class _Batch:
    """A batch, of which the records are one."""

    def __init__(self, batch: Any, fetch_offset: int) -> None:
        self._batch, self._fetch_offset = batch, fetch_offset

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def __iter__(self) -> Iterator["_Record"]:
        if self._batch.records_count:
            yield _Record(self._batch, self._fetch_offset)

    def __next__(self) -> Any:
        return next(self._batch)


class _Record:
    """All records of a batch at once; `value` is the batch, `timestamp` the offset that the fetch asked for."""

    key = timestamp_type = checksum = None
    headers = ()

    def __init__(self, batch: Any, fetch_offset: int) -> None:
        self.value = batch_of(batch)
        self.timestamp = fetch_offset
        self.offset = batch.next_offset - 1
        self.size_in_bytes = batch.size_in_bytes

    def validate_crc(self) -> bool:
        """That of the batch was looked at."""
        return True


class PythonProducer:
    """See `connectors.kafka.client.Producer`."""

    def __init__(self, producer: KafkaProducer, connection: Connection, options: SinkOptions, contact: Contact) -> None:
        self._producer, self._connection, self._options = producer, connection, options
        self._contact = contact
        self._batches = BatchedProducer(producer)
        self._on_their_way: deque[tuple[int, Any]] = deque()
        self._bytes = 0
        if options.transaction is not None:
            self._insist(producer.init_transactions)

    def send(self, topic: str, keys: Sequence[str], lines: memoryview, bounds: NDArray[np.int64]) -> None:
        encoded = [key.encode() for key in keys]
        named = Column(np.frombuffer(b"".join(encoded), np.uint8), _bounds(encoded))
        values = Column(np.frombuffer(lines, np.uint8), bounds, gap=1)
        n = len(self._insist(self._producer.partitions_for, topic))
        partitions = partitions_of(named.data, named.bounds, n)
        with _translated(self._connection.name):
            for number in range(n):
                members = np.flatnonzero(partitions == number)
                if members.size:
                    for size, future in self._batches.append(TopicPartition(topic, number), named, values, members):
                        self._note(size, future)
        self._wait_for_room()

    def send_one(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        listed = [(name, value or b"") for name, value in headers]
        self._note(len(key or b"") + len(value or b""), self._insist(self._producer.send, topic, value, key, listed))
        self._wait_for_room()

    def flush(self) -> None:
        with self._batches.hurry():  # not the client's own flush: it fails where a batch is split meanwhile
            while self._on_their_way:
                self._wait_for_one()

    def serve(self) -> None:
        while self._on_their_way and self._on_their_way[0][1].is_done:
            size, done = self._on_their_way.popleft()
            self._bytes -= size
            if done.exception is not None:  # for good: to go on without the message would lose it
                name = self._connection.name
                raise ConnectorError(f"the brokers at {name} have not taken a message: {_said(done.exception)}")

    def group_offsets(self, group: str) -> dict[Part, int]:
        servers = {"bootstrap_servers": list(self._connection.servers)}
        admin = _made(KafkaAdminClient, self._connection, servers | for_kafka_python(self._connection.settings))
        with _translated(self._connection.name):
            try:
                found = admin.list_group_offsets(group)[group]
            except errors.GroupIdNotFoundError:
                found = {}
            finally:
                admin.close()
        return {(part.topic, part.partition): at.offset for part, at in found.items() if at.offset >= 0}

    def begin(self) -> None:
        with _translated(self._connection.name):
            self._producer.begin_transaction()

    def commit(self, group: str, positions: Mapping[Part, int]) -> None:
        # What the client's own methods do, which wait without a word.
        manager = self._producer._transaction_manager
        offsets = {TopicPartition(*part): OffsetAndMetadata(offset, "", -1) for part, offset in positions.items()}
        with _translated(self._connection.name):
            if offsets:
                self._wait_for(manager.send_offsets_to_transaction(offsets, ConsumerGroupMetadata(group_id=group)))
            self._wait_for(manager.begin_commit())

    def close(self) -> None:
        try:
            self._producer.close(timeout=2)
        except errors.KafkaError:  # something is not acknowledged: it would try again, and complain, when it is deleted
            self._producer._sender.force_close()
            self._producer._closed = True

    def _note(self, size: int, future: Any) -> None:
        self._on_their_way.append((size, future))
        self._bytes += size

    def _wait_for_room(self) -> None:
        self.serve()
        while self._bytes > _WINDOW:
            self._wait_for_one()

    def _wait_for_one(self) -> None:
        """For the next messages to arrive."""
        _, next_one = self._on_their_way[0]
        with suppress(errors.KafkaError):  # not yet; or never, which `serve` tells
            next_one.get(_SLICE)
        self._heard(next_one.is_done)
        self.serve()

    def _wait_for(self, result: Any) -> None:
        """For a step of a transaction."""
        self._producer._sender.wakeup()
        while not result.wait(_SLICE * 1000):
            self._heard(False)
        self._heard(True)

    def _insist(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """What a method gives, again and again while it is late."""
        while True:
            try:
                with _translated(self._connection.name):
                    given = call(*arguments)
                self._contact.made()
                return given
            except UnreachableError as error:
                self._contact.lost(error)

    def _heard(self, answered: bool) -> None:
        if answered:
            self._contact.made()
        else:
            self._contact.lost(UnreachableError(f"the brokers at {self._connection.name} don't answer"))


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """kafka-python's errors as ours."""
    try:
        yield
    except (errors.OffsetOutOfRangeError, errors.LogTruncationError) as error:
        raise OffsetGoneError(str(error)) from None
    except errors.UnsupportedCodecError as error:
        raise ConnectorError(unreadable(_said(error))) from None
    except errors.RetriableError as error:
        raise UnreachableError(f"the brokers at {name} don't answer: {_said(error)}") from None
    except errors.KafkaError as error:
        raise ConnectorError(f"the brokers at {name} refuse: {_said(error)}") from None


def _committable(positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> dict[TopicPartition, OffsetAndMetadata]:
    return {
        TopicPartition(*part): OffsetAndMetadata(position["offset"], metadata, position.get("leader_epoch", -1))
        for part, position in positions.items()
    }


def _bounds(texts: Sequence[bytes]) -> NDArray[np.int64]:
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=bounds[1:])
    return bounds


def _said(error: errors.KafkaError) -> str:
    """What kafka-python says, without its classes in front where there is more."""
    if isinstance(error, (errors.MessageSizeTooLargeError, errors.RecordListTooLargeError)):
        return f"a message {TOO_LARGE}"
    return _CLASSES.sub("", str(error)) or getattr(error, "description", "") or str(error)


def _made(kind: Any, connection: Connection, arguments: Mapping[str, Any]) -> Any:
    """A consumer, producer or admin client; where it can't be made, it leaves nothing behind."""
    opened: list[Client] = []

    def client(**config: Any) -> Client:
        opened.append(Client(**config))
        return opened[0]

    check_listening(connection.servers)  # with all settings checked: a wrong one needs no broker to be told
    try:
        with _translated(connection.name):
            return kind(kafka_client=client, **arguments)
    except BaseException as error:
        for one in opened:
            one.close()
        if isinstance(error, UnreachableError):
            raise connection.silent() from None
        if isinstance(error, (ValueError, TypeError, AssertionError, errors.KafkaConfigurationError)):
            raise ConfigError(f"kafka: kafka-python refuses a setting: {error}") from None
        raise
