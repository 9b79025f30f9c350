"""Topics, records and offsets of a broker, for tests, with the fastest client."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

PATIENCE = 120.0
"""Seconds after which no answer is expected any more."""

Headers = Sequence[tuple[str, bytes | None]]


class Sent(NamedTuple):
    """A record to produce; a plain tuple works too."""

    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int = 0


class Found(NamedTuple):
    """A record that is in a topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers


def create_topic(address: str, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> None:
    """Make a topic; it can be written to afterwards."""
    new = NewTopic(name, partitions, 1, config=dict(config or {}))
    admin = _admin(address)
    admin.create_topics([new], request_timeout=PATIENCE)[name].result(PATIENCE)
    deadline = time.monotonic() + PATIENCE
    while name not in admin.list_topics(timeout=PATIENCE).topics:  # a busy broker learns of it later
        assert time.monotonic() < deadline, f"{name} is not known"
        time.sleep(0.01)


def delete_topic(address: str, name: str) -> None:
    """Remove a topic."""
    admin = _admin(address)
    admin.delete_topics([name], request_timeout=PATIENCE)[name].result(PATIENCE)


def add_partitions(address: str, name: str, total: int) -> None:
    """Let a topic grow to `total` partitions."""
    admin = _admin(address)
    admin.create_partitions([NewPartitions(name, total)], request_timeout=PATIENCE)[name].result(PATIENCE)


def produce(address: str, topic: str, records: Iterable[Sequence[Any]], **settings: object) -> None:
    """Append records, each a `Sent` or a tuple like it; all are acknowledged on return, in order.

    settings : of the client, with _ for each dot (`compression_type="zstd"`).
    """
    failed: list[KafkaError] = []
    producer = Producer(_client(address, settings) | {"linger.ms": 5, "max.in.flight": 1})
    for record in records:
        _send(producer, topic, Sent(*record), failed)
    assert producer.flush(PATIENCE) == 0, "not acknowledged in time"
    assert not failed, failed[0]


def _send(producer: Producer, topic: str, sent: Sent, failed: list[KafkaError]) -> None:
    def delivered(error: KafkaError | None, _: object) -> None:
        if error is not None:
            failed.append(error)

    arguments = {"key": sent.key, "headers": list(sent.headers), "partition": sent.partition}
    while True:
        try:
            producer.produce(topic, sent.value, **arguments, on_delivery=delivered)
            return
        except BufferError:  # the queue is full
            producer.poll(0.1)


def delete_records(address: str, topic: str, before: Mapping[int, int]) -> None:
    """Delete the records before an offset, by partition."""
    ends = [TopicPartition(topic, partition, offset) for partition, offset in before.items()]
    admin = _admin(address)
    for future in admin.delete_records(ends, request_timeout=PATIENCE).values():
        future.result(PATIENCE)


def read_all(address: str, topic: str, isolation: str = "read_committed") -> list[Found]:
    """Everything in a topic that is committed (or, with `read_uncommitted`, more), by partition and offset."""
    settings = {
        "group.id": "unused",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "fetch.wait.max.ms": 10,
    }
    consumer = Consumer(_client(address) | settings | {"isolation.level": isolation})
    try:
        return sorted(_to_the_ends(consumer, topic), key=lambda found: (found.partition, found.offset))
    finally:
        consumer.close()


def _to_the_ends(consumer: Consumer, topic: str) -> Iterable[Found]:
    left = set(consumer.list_topics(topic, PATIENCE).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in left])
    deadline = time.monotonic() + PATIENCE
    while left:
        assert time.monotonic() < deadline, f"no answer about partitions {left}"
        for message in consumer.consume(10_000, 0.02):
            deadline = time.monotonic() + PATIENCE
            if (error := message.error()) is None:
                found = (message.partition(), message.offset(), message.key(), message.value(), message.headers() or [])
                yield Found(*found)
            elif error.code() == KafkaError._PARTITION_EOF:
                left.discard(message.partition())
            else:
                raise KafkaException(error)


def committed(address: str, group: str, topic: str) -> dict[int, int]:
    """The offsets a group has committed, by partition."""
    consumer = Consumer(_client(address) | {"group.id": group})
    try:
        parts = [
            TopicPartition(topic, number) for number in consumer.list_topics(topic, PATIENCE).topics[topic].partitions
        ]
        return {each.partition: each.offset for each in consumer.committed(parts, PATIENCE) if each.offset >= 0}
    finally:
        consumer.close()


def _admin(address: str) -> AdminClient:
    """Keep a reference to it while an answer is awaited; otherwise no answer comes."""
    return AdminClient(_client(address))


def _client(address: str, settings: Mapping[str, object] | None = None) -> dict[str, object]:
    dotted = {name.replace("_", "."): value for name, value in (settings or {}).items()}
    return {"bootstrap.servers": address, "log_level": 0} | dotted
