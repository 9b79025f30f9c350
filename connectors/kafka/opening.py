"""Opens the Kafka client that the options name."""

import warnings
from typing import Any

from connectors.kafka.client import Connection, Consumer, Producer
from connectors.kafka.contact import Contact
from connectors.kafka.options import ClientOptions, SinkOptions, SourceOptions
from streamlin.errors import ConfigError


def open_consumer(connection: Connection, options: SourceOptions, seconds: float) -> Consumer:
    """A connected consumer. Raises UnreachableError after so many seconds, ConfigError if its package is missing."""
    consumer: Consumer = _module(options).open_consumer(connection, options, seconds)
    return consumer


def open_producer(connection: Connection, options: SinkOptions, seconds: float, contact: Contact) -> Producer:
    """A connected producer; see `open_consumer`."""
    producer: Producer = _module(options).open_producer(connection, options, seconds, contact)
    return producer


def _module(options: ClientOptions) -> Any:
    return _confluent() if options.client == "confluent" else _kafka_python()


def _kafka_python() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # by kafka-python itself, on Python 3.11 and 3.12
            from connectors.kafka.python_client import client
    except ModuleNotFoundError as error:
        raise _missing("kafka-python", "kafka", error) from None
    return client


def _confluent() -> Any:
    try:
        from connectors.kafka.confluent_client import client
    except ModuleNotFoundError as error:
        raise _missing("confluent-kafka", "confluent", error) from None
    return client


def _missing(package: str, extra: str, error: ModuleNotFoundError) -> Exception:
    if error.name is not None and error.name.startswith(("kafka", "confluent_kafka")):
        return ConfigError(f"kafka:// needs {package}, which is not installed: pip install 'streamlin[{extra}]'")
    return error
