"""Writing with confluent-kafka."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any

import numpy as np
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from numpy.typing import NDArray

from connectors.kafka.client import Connection, Part, UnreachableError
from connectors.kafka.confluent_client.librdkafka import SECONDS, Client, common, made, said
from connectors.kafka.contact import Contact
from connectors.kafka.messages import Headers
from connectors.kafka.options import SinkOptions
from streamlin.errors import ConnectorError

_SLICE = 1.0
"""Seconds that a producer waits until it tells that it does."""
_PAUSE = 0.05
_URL_SAFE = str.maketrans("+/", "-_")
"""From librdkafka's way to write a topic's id to Kafka's."""


class ConfluentProducer(Client):
    """See `connectors.kafka.client.Producer`."""

    def __init__(
        self,
        connection: Connection,
        options: SinkOptions,
        properties: Mapping[str, Any],
        seconds: float,
        contact: Contact,
    ) -> None:
        super().__init__(connection)
        self._contact = contact
        self._producer = made(Producer, {**properties, "on_delivery": self._delivered}, self.note)
        self._failure: Any = None
        self._group: Any = None
        self.reach(self._producer, seconds)
        if options.transaction is not None:
            self._insist(self._producer.init_transactions)

    def send(self, topic: str, keys: Sequence[str], lines: memoryview, bounds: NDArray[np.int64]) -> None:
        values = bytes(lines[bounds[0] : bounds[-1] - 1]).split(b"\n")
        self._produce(self._producer.produce, topic, zip(keys, values, strict=True))
        self.serve()

    def send_one(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        self._produce(partial(self._producer.produce, headers=list(headers)), topic, [(key, value)])

    def flush(self) -> None:
        while len(self._producer):
            self._wait(self._producer.flush, _SLICE)
        self.serve()

    def serve(self) -> None:
        self._producer.poll(0)
        self.check()
        if self._failure is not None:  # for good: to go on without the message would lose it
            name = self._connection.name
            raise ConnectorError(f"the brokers at {name} have not taken a message: {said(self._failure)}")

    def group_offsets(self, group: str) -> dict[Part, int]:
        # An admin client could list them, but crashes (in librdkafka) where the group's coordinator is being chosen.
        consumer = made(Consumer, common(self._connection) | {"group.id": group}, self.note)
        try:
            with self.translated():
                topics = consumer.list_topics(timeout=SECONDS).topics
                parts = [TopicPartition(name, number) for name in topics for number in topics[name].partitions]
                found = consumer.committed(parts, SECONDS) if parts else []
                for one in found:
                    if one.error is not None:
                        raise KafkaException(one.error)
        finally:
            consumer.close()
        return {(one.topic, one.partition): one.offset for one in found if one.offset >= 0}

    def begin(self) -> None:
        with self.translated():
            self._producer.begin_transaction()

    def commit(self, group: str, positions: Mapping[Part, int]) -> None:
        if positions:
            offsets = [TopicPartition(*part, offset) for part, offset in positions.items()]
            if self._group is None:
                self._group = self._metadata_of(group)
            self._insist(self._producer.send_offsets_to_transaction, offsets, self._group)
        self._insist(self._producer.commit_transaction)
        self.serve()

    def close(self) -> None:
        with suppress(KafkaException):
            self._producer.purge()
            self._producer.flush(0.1)

    def _metadata_of(self, group: str) -> Any:
        """What a transaction needs to name a group, for a producer that is no member of it."""
        consumer = made(Consumer, common(self._connection) | {"group.id": group}, self.note)
        try:
            return consumer.consumer_group_metadata()
        finally:
            consumer.close()

    def _produce(self, produce: Callable[..., None], topic: str, messages: Iterable[tuple[Any, bytes | None]]) -> None:
        """Hand over keys and values, one by one: `produce_batch` wants a dictionary of each, and takes longer with it.

        So does a keyword, twice as long.
        """
        with self.translated():
            for key, value in messages:
                while True:
                    try:
                        produce(topic, value, key)
                        break
                    except BufferError:
                        self._wait(self._producer.poll, _PAUSE)
        self._contact.made()  # there is room, so some have arrived

    def _wait(self, wait: Callable[[float], Any], seconds: float) -> None:
        """For messages to arrive, by a method of the client."""
        before = len(self._producer)
        wait(seconds)
        self.serve()
        if len(self._producer) < before:
            self._contact.made()
        else:
            self._contact.lost(UnreachableError(f"the brokers at {self._connection.name} don't answer"))

    def _insist(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Do a step of a transaction, which goes on where it was when it is called again."""
        while True:
            try:
                self._do(call, *arguments)
                self._contact.made()
                return
            except UnreachableError as error:
                self._contact.lost(error)

    def _do(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Do it on a thread of its own: without a broker librdkafka waits longer than it is told to."""
        failed: list[KafkaException] = []

        def attempt() -> None:
            try:
                call(*arguments, SECONDS)
            except KafkaException as error:
                failed.append(error)

        thread = Thread(target=attempt, daemon=True)
        thread.start()
        thread.join(_SLICE)
        while thread.is_alive():
            self._contact.lost(UnreachableError(f"the brokers at {self._connection.name} don't answer"))
            thread.join(_SLICE)
        with self.translated():
            if failed:
                raise failed[0]

    def _delivered(self, error: Any, _: Any) -> None:
        if error is not None and self._failure is None:
            self._failure = error
