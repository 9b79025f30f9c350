"""The client confluent-kafka, which is librdkafka."""

from typing import Any

from confluent_kafka import libversion

from connectors.kafka import client_settings
from connectors.kafka.confluent_client.consumer import ConfluentConsumer
from connectors.kafka.confluent_client.librdkafka import common
from connectors.kafka.confluent_client.producer import ConfluentProducer
from connectors.kafka.connection import Connection
from connectors.kafka.contact import Contact
from connectors.kafka.options import SinkOptions, SourceOptions

_REBOOTSTRAPS = 0x020B0000
"""From librdkafka 2.11 on, it replaces brokers that are all away by the bootstrap servers, while transactions go on
waiting for the brokers it replaced (its issue 5511)."""


def open_consumer(connection: Connection, options: SourceOptions, seconds: float) -> ConfluentConsumer:
    """See `connectors.kafka.opening.open_consumer`."""
    properties: dict[str, Any] = {
        "group.id": options.group or "streamlin",  # librdkafka needs one; nothing is committed to this one
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
        "allow.auto.create.topics": False,
        "partition.assignment.strategy": "cooperative-sticky",
        "enable.partition.eof": True,
        "max.poll.interval.ms": options.max_poll_interval_ms,
        "fetch.wait.max.ms": 500,
        "fetch.queue.backoff.ms": 5,  # the default, 1,000, lets its queue run dry
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
    if options.fetch_max_bytes is not None:  # which librdkafka requires to be at least message.max.bytes
        properties["message.max.bytes"] = min(1_000_000, options.fetch_max_bytes)
    properties |= common(connection) | client_settings.for_confluent(options.own)
    return ConfluentConsumer(connection, properties, seconds)


def open_producer(connection: Connection, options: SinkOptions, seconds: float, contact: Contact) -> ConfluentProducer:
    """See `connectors.kafka.opening.open_producer`."""
    patience = int(connection.give_up_after * 1000)  # the contact ends it
    properties: dict[str, Any] = {
        "enable.idempotence": True,
        "acks": "all",
        "compression.type": options.compression,
        "linger.ms": options.linger_ms,
        "partitioner": "murmur2_random",
        "delivery.timeout.ms": max(60_000, 2 * patience),
        "delivery.report.only.error": True,
    }
    if options.transactional is not None:
        properties |= {"transactional.id": options.transactional, "transaction.timeout.ms": 900_000}
        properties["delivery.timeout.ms"] = min(properties["delivery.timeout.ms"], 900_000)
        if libversion()[1] >= _REBOOTSTRAPS:
            properties["metadata.recovery.strategy"] = "none"
    properties |= common(connection) | client_settings.for_confluent(options.own)
    return ConfluentProducer(connection, options, properties, seconds, contact)
