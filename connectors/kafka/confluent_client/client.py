"""The client confluent-kafka, which is librdkafka."""

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
    properties = client_settings.of_consumer(options) | {
        "group.id": options.group or "streamlin",  # librdkafka needs one; nothing is committed to this one
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "partition.assignment.strategy": "cooperative-sticky",
        "enable.partition.eof": True,
        "fetch.wait.max.ms": 500,
        "fetch.queue.backoff.ms": 5,  # the default, 1,000, lets its queue run dry
        "topic.metadata.refresh.interval.ms": 30_000,
    }
    if options.fetch_max_bytes is not None:  # which librdkafka requires to be at least message.max.bytes
        properties["message.max.bytes"] = min(1_000_000, options.fetch_max_bytes)
    properties |= common(connection) | client_settings.for_confluent(options.own)
    return ConfluentConsumer(connection, properties, seconds)


def open_producer(connection: Connection, options: SinkOptions, seconds: float, contact: Contact) -> ConfluentProducer:
    """See `connectors.kafka.opening.open_producer`."""
    properties = client_settings.of_producer(connection, options) | {
        "compression.type": options.compression,
        "partitioner": "murmur2_random",
        "delivery.report.only.error": True,
    }
    if options.transactional is not None and libversion()[1] >= _REBOOTSTRAPS:
        properties["metadata.recovery.strategy"] = "none"
    properties |= common(connection) | client_settings.for_confluent(options.own)
    return ConfluentProducer(connection, options, properties, seconds, contact)
