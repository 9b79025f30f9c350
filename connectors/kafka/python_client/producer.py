"""Writing with kafka-python."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import kafka.errors as errors
import numpy as np
from kafka import ConsumerGroupMetadata, KafkaAdminClient, KafkaProducer
from kafka.structs import OffsetAndMetadata, TopicPartition
from numpy.typing import NDArray

from connectors.kafka.client import TOPICS_LIMIT, Part, too_large
from connectors.kafka.connection import Connection
from connectors.kafka.contact import SLICE, Contact
from connectors.kafka.messages import Headers
from connectors.kafka.python_client.errors import LARGE, describe, translated
from streamlin.errors import ConnectorError

_UNACKNOWLEDGED_BYTES = 8 * 1024 * 1024
"""Of messages; a slow broker must not fill the memory."""
_CLOSE_SECONDS = 1.0


class Flushing(KafkaProducer):  # type: ignore[misc]  # kafka-python has no types
    """Has no error for messages that are not acknowledged: a producer that can't flush could not be closed."""

    def flush(self, timeout: float | None = None) -> None:
        """Return when all is acknowledged, a batch is split, or after `timeout` seconds."""
        with suppress(errors.KafkaError):
            super().flush(timeout)


class PythonProducer:
    """See `connectors.kafka.client.Producer`."""

    def __init__(
        self,
        producer: Flushing,
        connection: Connection,
        contact: Contact,
        is_transactional: bool,
        open_admin: Callable[[], KafkaAdminClient],
    ) -> None:
        self._producer, self._connection, self._contact = producer, connection, contact
        self._open_admin = open_admin
        self._sent: deque[tuple[str, int | None, bytes | None, Any]] = deque()
        self._bytes = 0
        if is_transactional:
            self._retry(producer.init_transactions)

    def send(self, topic: str, keys: Sequence[str], lines: memoryview, bounds: NDArray[np.int64]) -> None:
        partitions = self._retry(partial(self._producer.partitions_for, topic))
        only = next(iter(partitions)) if len(partitions) == 1 else None  # no need to hash keys
        values = bytes(lines[bounds[0] : bounds[-1] - 1]).split(b"\n")
        with translated(self._connection.name):
            for key, value in zip(keys, values, strict=True):
                self._hand_over(topic, only, value, key.encode(), None)
        self._wait_for_room()

    def send_one(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        listed = [(name, content or b"") for name, content in headers]
        self._retry(partial(self._hand_over, topic, None, value, key, listed))
        self._wait_for_room()

    def _hand_over(
        self, topic: str, partition: int | None, value: bytes | None, key: bytes | None, headers: Any
    ) -> None:
        try:
            future = self._producer.send(topic, value, key, headers, partition)
        except errors.MessageSizeTooLargeError:
            limit = f"client.max_request_size={self._producer.config['max_request_size']}, an option of the sink"
            raise ConnectorError(f"a message can't be sent: {too_large(topic, partition, value, limit)}") from None
        self._sent.append((topic, partition, value, future))
        self._bytes += len(value or b"")

    def flush(self) -> None:
        while self._sent:
            self._wait(self._producer.flush)

    def serve(self) -> None:
        while self._sent and self._sent[0][-1].is_done:
            topic, partition, value, done = self._sent.popleft()
            self._bytes -= len(value or b"")
            if (error := done.exception) is not None:  # for good: to go on without the message would lose it
                why = describe(error)
                if isinstance(error, LARGE):
                    why = too_large(topic, partition, value, TOPICS_LIMIT)
                raise ConnectorError(f"the brokers at {self._connection.name} have not taken a message: {why}")

    def group_offsets(self, group: str) -> dict[Part, int]:
        with translated(self._connection.name):
            admin = self._open_admin()
            try:
                found = admin.list_group_offsets(group)[group]
            except errors.GroupIdNotFoundError:
                found = {}
            finally:
                admin.close()
        return {(part.topic, part.partition): at.offset for part, at in found.items() if at.offset >= 0}

    def begin(self) -> None:
        with translated(self._connection.name):
            self._producer.begin_transaction()

    def commit(self, group: str, positions: Mapping[Part, int]) -> None:
        offsets = {TopicPartition(*part): OffsetAndMetadata(offset, "", -1) for part, offset in positions.items()}

        def commit() -> None:
            if offsets:
                self._producer.send_offsets_to_transaction(offsets, ConsumerGroupMetadata(group_id=group))
            self._producer.commit_transaction()

        with translated(self._connection.name):
            self._contact.watch(commit)  # neither has a timeout
        self._contact.answered()
        self.serve()

    def close(self) -> None:
        self._producer.close(timeout=_CLOSE_SECONDS)

    def _wait_for_room(self) -> None:
        self.serve()
        while self._bytes > _UNACKNOWLEDGED_BYTES:
            self._wait(self._sent[0][-1].get)

    def _wait(self, wait: Callable[[float], Any]) -> None:
        """Wait for messages to be acknowledged, and report whether some were."""
        before = len(self._sent)
        with suppress(errors.KafkaError):  # not yet; or never, which `serve` tells
            wait(SLICE)
        self.serve()
        if len(self._sent) < before:
            self._contact.answered()
        else:
            self._contact.silent()

    def _retry(self, call: Callable[[], Any]) -> Any:
        """The result of a call, which is repeated while it times out."""

        def translated_call() -> Any:
            with translated(self._connection.name):
                return call()

        return self._contact.retry(translated_call)
