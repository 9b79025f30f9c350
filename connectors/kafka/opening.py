"""Opens the Kafka client that the options name."""

import warnings
from importlib import import_module
from typing import Any

from connectors.kafka.client import Consumer, Producer
from connectors.kafka.connection import Connection
from connectors.kafka.contact import Contact
from connectors.kafka.options import ClientOptions, SinkOptions, SourceOptions
from streamlin.errors import ConfigError, missing

_CLIENTS = {
    "kafka-python": ("connectors.kafka.python_client.client", "kafka", "kafka-python", "kafka"),
    "confluent": ("connectors.kafka.confluent_client.client", "confluent_kafka", "confluent-kafka", "confluent"),
}
"""By the option's value: our module, the module and the name of its package, and the extra that installs it."""


def open_consumer(connection: Connection, options: SourceOptions, seconds: float) -> Consumer:
    """A connected consumer. Raises UnreachableError after so many seconds, ConfigError if its package is missing."""
    consumer: Consumer = _module(options).open_consumer(connection, options, seconds)
    return consumer


def open_producer(connection: Connection, options: SinkOptions, seconds: float, contact: Contact) -> Producer:
    """A connected producer; see `open_consumer`."""
    producer: Producer = _module(options).open_producer(connection, options, seconds, contact)
    return producer


def _module(options: ClientOptions) -> Any:
    ours, theirs, package, extra = _CLIENTS[options.client]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # by kafka-python itself, on Python 3.11 and 3.12
            return import_module(ours)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != theirs:
            raise
        raise ConfigError(missing("kafka://", extra, error, package)) from None
