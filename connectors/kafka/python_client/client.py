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
    arguments = {
        **_renamed(client_settings.of_consumer(options)),
        **_common(connection, seconds),
        "group_id": options.group,
        "auto_offset_reset": "none",
        "partition_assignment_strategy": [assignor],
        "metadata_max_age_ms": 30_000,
    }
    arguments |= client_settings.for_kafka_python(options.own, KafkaConsumer.DEFAULT_CONFIG)
    consumer, client = _open(KafkaConsumer, connection, arguments)
    return PythonConsumer(consumer, client, connection, assignor, partial(_open_admin, connection))


def open_producer(connection: Connection, options: SinkOptions, seconds: float, contact: Contact) -> PythonProducer:
    """See `connectors.kafka.opening.open_producer`."""
    check_compression(options.compression)
    arguments = {
        **_renamed(client_settings.of_producer(connection, options)),
        **_common(connection, seconds),
        "compression_type": None if options.compression == "none" else options.compression,
        "batch_size": _BATCH_BYTES,
        "max_block_ms": SLICE * 1000,
    }
    arguments |= client_settings.for_kafka_python(options.own, KafkaProducer.DEFAULT_CONFIG)
    producer, _ = _open(Flushing, connection, arguments)
    admin = partial(_open_admin, connection)
    return PythonProducer(producer, connection, contact, options.transactional is not None, admin)


def _open_admin(connection: Connection) -> KafkaAdminClient:
    servers = {"bootstrap_servers": list(connection.servers)}
    return _open(KafkaAdminClient, connection, servers | for_kafka_python(connection.settings))[0]


def _renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name.replace(".", "_"): value for name, value in settings.items()}


def _common(connection: Connection, seconds: float) -> dict[str, Any]:
    return {
        "bootstrap_servers": list(connection.servers),
        "bootstrap_timeout_ms": int(seconds * 1000),
        "reconnect_backoff_max_ms": 1000,
        "metrics_enabled": False,
        **for_kafka_python(connection.settings),
    }


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
