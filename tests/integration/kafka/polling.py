"""Kafka sources that are polled without a run, and messages made by hand."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from confluent_kafka import Producer

from connectors.kafka.messages import Messages
from connectors.kafka.source import KafkaSource
from streamlin.events import Position, SourceContext
from streamlin.formats.framing import Lines
from tests.integration.kafka.broker import PATIENCE

_QUICK = {"kafka-python": {"client.fetch_max_wait_ms": "20"}, "confluent": {"client.fetch.wait.max.ms": "20"}}
"""An empty fetch returns soon: then librdkafka reports the end of a partition."""


def opened(
    address: str,
    topics: str,
    positions: Mapping[str, Position] | None = None,
    notice: Callable[[str], Any] = lambda line: None,
    **options: str,
) -> KafkaSource:
    """A source; `client_` in an option's name stands for `client.`."""
    named = {name.replace("client_", "client.", 1): value for name, value in options.items()}
    context = SourceContext(
        _QUICK[options["client"]] | named, Lines(), positions or {}, False, 10_000_000, notice, settings={}
    )
    return KafkaSource(f"{address}/{topics}", context)


def polled(source: KafkaSource, limit: int = 1000) -> list[Messages]:
    """Everything up to the end of a source that has one; it is closed."""
    found: list[Any] = []
    try:
        while (some := source.poll(limit)) is not None:
            assert sum(map(len, some)) <= limit
            found += some
    finally:
        source.close()
    return found


def awaited(source: KafkaSource, count: int) -> list[Messages]:
    """At least `count` further messages."""
    found: list[Any] = []
    deadline = time.monotonic() + PATIENCE
    while sum(map(len, found)) < count:
        assert time.monotonic() < deadline, f"only {values(found)}"
        found += source.poll(1000) or []
    return found


def values(found: Iterable[Messages]) -> list[bytes]:
    """Of all of them, in order."""
    return [records[i] for records in found for i in range(len(records))]


def positions(found: Iterable[Messages]) -> dict[str, Position]:
    """Where each partition resumes."""
    return {records.key: records.position(len(records)) for records in found}


class Transactions:
    """A producer of transactions to one partition."""

    def __init__(self, address: str, topic: str) -> None:
        settings = {"bootstrap.servers": address, "transactional.id": str(uuid4()), "linger.ms": 0, "log_level": 0}
        self._producer, self._topic = Producer(settings), topic
        self._producer.init_transactions(PATIENCE)

    def commit(self, *values: bytes) -> None:
        """Send them in a transaction, and commit it."""
        self.begin(*values)
        self._producer.commit_transaction(PATIENCE)

    def abort(self, *values: bytes) -> None:
        """Send them in a transaction, and abort it."""
        self.begin(*values)
        self._producer.abort_transaction(PATIENCE)

    def end(self) -> None:
        """Commit the one that is open."""
        self._producer.commit_transaction(PATIENCE)

    def begin(self, *values: bytes) -> None:
        """Send them in a transaction that stays open."""
        self._producer.begin_transaction()
        for value in values:
            self._producer.produce(self._topic, value, partition=0)
        assert self._producer.flush(PATIENCE) == 0


def produce_at(address: str, topic: str, messages: Sequence[tuple[int, bytes]]) -> None:
    """Messages, each with its time (ms)."""
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    for time_ms, value in messages:
        producer.produce(topic, value, partition=0, timestamp=time_ms)
    assert producer.flush(PATIENCE) == 0
