"""Settings of a client: those that streamlin decides, and those of `client.` options under the client's own names."""

from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from connectors.kafka.connection import Connection
from connectors.kafka.options import CLIENT, SinkOptions, SourceOptions
from streamlin.errors import ConfigError

_DECIDED = (
    *("acks", "auto.commit", "auto.offset.reset", "bootstrap.", "enable.auto", "enable.idempotence"),
    *("enable.partition.eof", "enable.ssl", "group.id", "group.instance", "isolation.", "metadata.broker"),
    *("key.", "partition.assignment", "partitioner", "request.required.acks", "sasl.", "security.", "ssl."),
    *("transactional.id", "value."),
)
"""Beginnings of the names of settings that exactly-once learning depends on, or that have options of their own."""


_TRANSACTION_MS = 900_000


def of_consumer(options: SourceOptions) -> dict[str, Any]:
    """What both clients are told, under Kafka's names; kafka-python has underscores in place of dots."""
    settings = {
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "allow.auto.create.topics": False,
        "group.instance.id": options.instance,
        "max.poll.interval.ms": options.max_poll_interval_ms,
        "session.timeout.ms": options.session_timeout_ms,
        "heartbeat.interval.ms": options.heartbeat_interval_ms,
        "fetch.max.bytes": options.fetch_max_bytes,
        "max.partition.fetch.bytes": options.max_partition_fetch_bytes,
    }
    return {name: value for name, value in settings.items() if value is not None}


def of_producer(connection: Connection, options: SinkOptions) -> dict[str, Any]:
    """See `of_consumer`."""
    patience = max(60_000, int(2000 * connection.give_up_after)) + options.linger_ms  # the contact ends it before
    settings: dict[str, Any] = {"enable.idempotence": True, "acks": "all", "linger.ms": options.linger_ms}
    if options.transactional is not None:
        patience = min(patience, _TRANSACTION_MS)  # librdkafka requires it
        settings |= {"transactional.id": options.transactional, "transaction.timeout.ms": _TRANSACTION_MS}
    return settings | {"delivery.timeout.ms": patience}


def for_kafka_python(own: Mapping[str, str], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Values converted to the types of the client's defaults. Raises ConfigError."""
    settings = {}
    for name, text in for_confluent(own).items():
        if name not in defaults:
            close = get_close_matches(name, defaults, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise ConfigError(f"kafka: {CLIENT}{name}: kafka-python has no such setting{hint}")
        settings[name] = _typed(name, text, defaults[name])
    return settings


def for_confluent(own: Mapping[str, str]) -> dict[str, str]:
    """librdkafka's properties; it checks names and values itself. Raises ConfigError."""
    for name in own:
        if name.replace("_", ".").startswith(_DECIDED):
            raise ConfigError(f"kafka: {CLIENT}{name} can't be set: streamlin sets it, by its own options and [kafka]")
    return dict(own)


def _typed(name: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise ConfigError(f"kafka: {CLIENT}{name}={text}: expected true or false")
        return text == "true"
    if isinstance(default, str):
        return text
    if default is not None and not isinstance(default, (int, float)):
        raise ConfigError(f"kafka: {CLIENT}{name} can't be set in a URL")
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    if default is not None:
        raise ConfigError(f"kafka: {CLIENT}{name}={text}: expected a number")
    return text
