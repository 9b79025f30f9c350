"""What reading and writing with confluent-kafka share: librdkafka's settings and errors."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from connectors.kafka.client import Part
from connectors.kafka.connection import Connection
from connectors.kafka.errors import OffsetGoneError, RebalancingError, UnreachableError
from connectors.kafka.security import for_confluent
from streamlin.errors import ConfigError, ConnectorError

_LOG = logging.getLogger("confluent_kafka")
_LOG.addHandler(logging.NullHandler())  # else librdkafka writes to standard error among our messages
SECONDS = 5.0
_BROKER_FORGOTTEN = -137
"""KafkaError._DESTROY_BROKER, which older versions have no name for: the brokers named other ones meanwhile."""
AWAY = {
    _BROKER_FORGOTTEN,
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
"""Errors that may be gone at the next attempt."""
LARGE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE}
GONE = {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE, KafkaError._LOG_TRUNCATION}
_AROUND = re.compile(r"^(?:\w+://\S+: )?(?:SASL authentication error: )?|(?: \(after \d+ms in state .*)?$")
"""Parts of messages that are of no use to users."""
_REFUSED = {
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError._SSL,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
}


class Client:
    """What consumer and producer share: librdkafka reports trouble through a callback."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._fatal: Any = None

    def note(self, error: Any) -> None:
        """librdkafka's error callback, on the thread that polls."""
        if error.code() in _REFUSED or error.fatal():
            self._fatal = error

    def check(self) -> None:
        """Raise an error that librdkafka does not recover from by itself."""
        if self._fatal is not None:
            raise ConnectorError(f"the brokers at {self._connection.name} refuse: {describe(self._fatal)}")

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Raise librdkafka's errors as ours."""
        try:
            yield
        except KafkaException as error:
            self.check()
            raise translation(error.args[0], self._connection.name) from None

    def reach(self, handle: Any, seconds: float) -> None:
        """Return once a broker has answered. `handle` is a consumer, producer or admin client."""
        self._connection.check()
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
                    raise self._connection.unanswered() if isinstance(failure, UnreachableError) else failure from None


def translation(error: Any, name: str) -> Exception:
    """An error of librdkafka as ours."""
    if error.code() in GONE:
        return OffsetGoneError(error.str())
    if error.code() in (KafkaError.REBALANCE_IN_PROGRESS, KafkaError.ILLEGAL_GENERATION):
        return RebalancingError(f"the group at {name} is rebalancing")
    if error.code() in AWAY or error.retriable():
        return UnreachableError(f"the brokers at {name} don't answer: {describe(error)}")
    return ConnectorError(f"the brokers at {name} refuse: {describe(error)}")


def common(connection: Connection) -> dict[str, Any]:
    """Properties of every handle."""
    return {
        "bootstrap.servers": ",".join(connection.servers),
        "socket.keepalive.enable": True,
        "reconnect.backoff.max.ms": 1000,
        "socket.nagle.disable": True,
        **for_confluent(connection.settings),
    }


def create(kind: Any, properties: Mapping[str, Any], note: Callable[[Any], None]) -> Any:
    """A consumer, producer or admin client. Raises ConfigError where librdkafka refuses a property."""
    try:
        return kind({**properties, "error_cb": note}, logger=_LOG)
    except (KafkaException, TypeError, ValueError) as error:
        why = describe(error.args[0] if isinstance(error, KafkaException) else error)
        raise ConfigError(f"kafka: confluent-kafka refuses a setting: {why}") from None


def describe(error: Any) -> str:
    """The message of an error, in one line."""
    return _AROUND.sub("", " ".join(str(error.str() if isinstance(error, KafkaError) else error).split()))


def parts_of(parts: Sequence[Any]) -> list[Part]:
    """librdkafka's partitions, sorted."""
    return sorted((part.topic, part.partition) for part in parts)
