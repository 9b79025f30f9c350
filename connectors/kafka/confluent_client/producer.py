"""Writing with confluent-kafka."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from numpy.typing import NDArray

from connectors.kafka.client import TOPICS_LIMIT, Part, too_large
from connectors.kafka.confluent_client.librdkafka import LARGE, SECONDS, Client, common, create, describe
from connectors.kafka.connection import Connection
from connectors.kafka.contact import SLICE, Contact
from connectors.kafka.messages import Headers
from connectors.kafka.options import SinkOptions
from streamlin.errors import ConnectorError

_PAUSE = 0.05


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
        self._producer = create(Producer, {**properties, "on_delivery": self._delivered}, self.note)
        self._failure: tuple[Any, Any] | None = None
        self._limit = (
            f"client.message.max.bytes={properties.get('message.max.bytes', 1_000_000)}, an option of the sink"
        )
        self._group: Any = None
        self.reach(self._producer, seconds)
        if options.transactional is not None:
            self._step(self._producer.init_transactions)

    def send(self, topic: str, keys: Sequence[str], lines: memoryview, bounds: NDArray[np.int64]) -> None:
        values = bytes(lines[bounds[0] : bounds[-1] - 1]).split(b"\n")
        self._produce(self._producer.produce, topic, zip(keys, values, strict=True))
        self.serve()

    def send_one(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        self._produce(partial(self._producer.produce, headers=list(headers)), topic, [(key, value)])

    def flush(self) -> None:
        while len(self._producer):
            self._wait(self._producer.flush, SLICE)
        self.serve()

    def serve(self) -> None:
        self._producer.poll(0)
        self.check()
        if self._failure is not None:  # for good: to continue without the message would lose it
            error, message = self._failure
            why = describe(error)
            if error.code() in LARGE:
                why = too_large(message.topic(), message.partition(), message.value(), TOPICS_LIMIT)
                why += ", or its batch is; with client.batch.size=10000 batches are smaller"
            raise ConnectorError(f"the brokers at {self._connection.name} have not taken a message: {why}")

    def group_offsets(self, group: str) -> dict[Part, int]:
        # An admin client could list them, but crashes in librdkafka while the group's coordinator is being elected.
        with self._consumer_of(group) as consumer, self.translated():
            topics = consumer.list_topics(timeout=SECONDS).topics
            parts = [TopicPartition(name, number) for name in topics for number in topics[name].partitions]
            found = consumer.committed(parts, SECONDS) if parts else []
            for one in found:
                if one.error is not None:
                    raise KafkaException(one.error)
        return {(one.topic, one.partition): one.offset for one in found if one.offset >= 0}

    def begin(self) -> None:
        with self.translated():
            self._producer.begin_transaction()

    def commit(self, group: str, positions: Mapping[Part, int]) -> None:
        if positions:
            offsets = [TopicPartition(*part, offset) for part, offset in positions.items()]
            if self._group is None:
                with self._consumer_of(group) as consumer:
                    self._group = consumer.consumer_group_metadata()
            self._step(self._producer.send_offsets_to_transaction, offsets, self._group)
        self._step(self._producer.commit_transaction)
        self.serve()

    def close(self) -> None:
        with suppress(KafkaException):
            self._producer.purge()
            self._producer.flush(0.1)

    @contextmanager
    def _consumer_of(self, group: str) -> Iterator[Any]:
        """A consumer that names the group without being a member of it."""
        consumer = create(Consumer, common(self._connection) | {"group.id": group}, self.note)
        try:
            yield consumer
        finally:
            consumer.close()

    def _produce(self, produce: Callable[..., None], topic: str, messages: Iterable[tuple[Any, bytes | None]]) -> None:
        """Hand over keys and values, one by one and by position.

        `produce_batch` needs a dictionary for each message and is slower; so are keyword arguments, twice as slow.
        """
        with self.translated():
            for key, value in messages:
                while True:
                    try:
                        produce(topic, value, key)
                        break
                    except BufferError:
                        self._wait(self._producer.poll, _PAUSE)
                    except KafkaException as error:
                        if error.args[0].code() in LARGE:
                            why = too_large(topic, None, value, self._limit)
                            raise ConnectorError(f"a message can't be sent: {why}") from None
                        raise
        self._contact.answered()  # there is room, so some have arrived

    def _wait(self, wait: Callable[[float], Any], seconds: float) -> None:
        """Wait for messages to be acknowledged, by a method of the client."""
        before = len(self._producer)
        wait(seconds)
        self.serve()
        if len(self._producer) < before:
            self._contact.answered()
        else:
            self._contact.silent()

    def _step(self, call: Callable[..., Any], *arguments: Any) -> None:
        """A step of a transaction, repeated while it times out: librdkafka resumes it where it was.

        Without a broker it blocks for longer than it is told to.
        """

        def attempt() -> None:
            with self.translated():
                call(*arguments, SECONDS)

        self._contact.retry(lambda: self._contact.watch(attempt))

    def _delivered(self, error: Any, message: Any) -> None:
        """Note the first message that was not delivered; of a batch that is too large, the largest one."""
        if error is None:
            return
        if self._failure is None or (error.code() in LARGE and len(message) > len(self._failure[1])):
            self._failure = error, message
