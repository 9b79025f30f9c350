"""The client kafka-python."""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

import kafka.errors as errors
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from connectors.kafka import client_settings
from connectors.kafka.connection import Connection
from connectors.kafka.contact import SLICE, Contact
from connectors.kafka.errors import UnreachableError
from connectors.kafka.options import SinkOptions, SourceOptions
from connectors.kafka.python_client.connections import Client
from connectors.kafka.python_client.consumer import PythonConsumer
from connectors.kafka.python_client.errors import check_compression, translated
from connectors.kafka.python_client.membership import Assignor
from connectors.kafka.python_client.producer import Flushing, PythonProducer
from connectors.kafka.security import for_kafka_python
from streamlin.errors import ConfigError

logging.getLogger("kafka").addHandler(logging.NullHandler())  # else Python prints its warnings among ours

_BATCH_BYTES = 256 * 1024
"""Of a produced batch. With the client's own 16 KiB it wakes its sender for almost every message."""


def open_consumer(connection: Connection, options: SourceOptions, seconds: float) -> PythonConsumer:
    """See `connectors.kafka.opening.open_consumer`."""
    assignor = Assignor()
    arguments: dict[str, Any] = {
        "bootstrap_servers": list(connection.servers),
        "bootstrap_timeout_ms": int(seconds * 1000),
        "group_id": options.group,
        "group_instance_id": options.instance,
        "enable_auto_commit": False,
        "auto_offset_reset": "none",
        "isolation_level": "read_committed",
        "allow_auto_create_topics": False,
        "partition_assignment_strategy": [assignor],
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
    arguments |= client_settings.for_kafka_python(options.own, KafkaConsumer.DEFAULT_CONFIG)
    consumer, client = _open(KafkaConsumer, connection, arguments)
    return PythonConsumer(consumer, client, connection, assignor)


def open_producer(connection: Connection, options: SinkOptions, seconds: float, contact: Contact) -> PythonProducer:
    """See `connectors.kafka.opening.open_producer`."""
    check_compression(options.compression)
    patience = int(connection.give_up_after * 1000)  # the contact ends it
    arguments: dict[str, Any] = {
        "bootstrap_servers": list(connection.servers),
        "bootstrap_timeout_ms": int(seconds * 1000),
        "acks": "all",
        "enable_idempotence": True,
        "compression_type": None if options.compression == "none" else options.compression,
        "linger_ms": options.linger_ms,
        "batch_size": _BATCH_BYTES,
        "delivery_timeout_ms": max(2 * patience, 60_000) + options.linger_ms,
        "max_block_ms": SLICE * 1000,
        "reconnect_backoff_max_ms": 1000,
        "metrics_enabled": False,
        **for_kafka_python(connection.settings),
    }
    if options.transactional is not None:
        arguments |= {"transactional_id": options.transactional, "transaction_timeout_ms": 900_000}
    arguments |= client_settings.for_kafka_python(options.own, KafkaProducer.DEFAULT_CONFIG)
    producer, _ = _open(Flushing, connection, arguments)
    admin = partial(_open_admin, connection)
    return PythonProducer(producer, connection, contact, options.transactional is not None, admin)


def _open_admin(connection: Connection) -> KafkaAdminClient:
    servers = {"bootstrap_servers": list(connection.servers)}
    return _open(KafkaAdminClient, connection, servers | for_kafka_python(connection.settings))[0]


def _open(kind: Any, connection: Connection, arguments: Mapping[str, Any]) -> tuple[Any, Client]:
    """A consumer, producer or admin client, and its connections; if it fails, these are closed."""
    opened: list[Client] = []

    def client(**config: Any) -> Client:
        opened.append(Client(**config))
        return opened[0]

    connection.check()  # all settings are checked by now: a wrong one is reported without a broker
    try:
        with translated(connection.name):
            return kind(kafka_client=client, **arguments), opened[0]
    except BaseException as error:
        for one in opened:
            one.close()
        if isinstance(error, UnreachableError):
            raise connection.unanswered() from None
        if isinstance(error, (ValueError, TypeError, AssertionError, errors.KafkaConfigurationError)):
            raise ConfigError(f"kafka: kafka-python refuses a setting: {error}") from None
        raise
