"""Reading with kafka-python."""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from operator import attrgetter
from threading import Event
from typing import Any

import kafka.errors as errors
from kafka import KafkaAdminClient, KafkaConsumer
from kafka.structs import OffsetAndMetadata, TopicPartition

from connectors.kafka.client import Extent, Part, Rebalance
from connectors.kafka.connection import Connection
from connectors.kafka.errors import RebalancingError
from connectors.kafka.messages import Fields, Messages, from_records
from connectors.kafka.python_client.connections import Client
from connectors.kafka.python_client.errors import translated
from connectors.kafka.python_client.membership import Assignor, Membership
from streamlin.errors import ConnectorError

_REQUEST_SECONDS = 5.0
_REQUEST_MS = int(_REQUEST_SECONDS * 1000)
_LATEST = -1
"""The protocol's name for an end."""
_FIELDS = Fields(
    offset=attrgetter("offset"),
    value=attrgetter("value"),
    key=attrgetter("key"),
    headers=attrgetter("headers"),
    time=attrgetter("timestamp"),
    leader_epoch=attrgetter("leader_epoch"),
)


class PythonConsumer:
    """See `connectors.kafka.client.Consumer`."""

    def __init__(
        self,
        consumer: KafkaConsumer,
        client: Client,
        connection: Connection,
        assignor: Assignor,
        open_admin: Callable[[], KafkaAdminClient],
    ) -> None:
        self._consumer, self._cluster, self._connection = consumer, client.cluster, connection
        self._assignor, self._open_admin = assignor, open_admin
        self._instance = consumer.config["group_instance_id"]
        self._next: dict[Part, int] = {}
        self._raised: Exception | None = None
        self._membership: Membership | None = None

    def partitions(self, topic: str) -> list[int]:
        with translated(self._connection.name):
            return sorted(self._consumer.partitions_for_topic(topic) or ())

    def topic_id(self, topic: str) -> str | None:
        with translated(self._connection.name):
            self._refresh()
        found = self._cluster.topic_id(topic)
        return None if found is None else urlsafe_b64encode(found.bytes).rstrip(b"=").decode()  # as Kafka writes it

    def _refresh(self) -> None:
        """Ask for the topics anew: what is known of them may be half a minute old."""
        if not self._consumer.assignment() and not self._consumer.subscription():
            self._consumer.topics()
            return
        answered = Event()
        asked = self._cluster.request_update().add_both(lambda _: answered.set())
        if not answered.wait(_REQUEST_SECONDS):
            raise errors.KafkaTimeoutError
        if asked.exception is not None:
            raise asked.exception

    def extents(self, parts: Sequence[Part]) -> dict[Part, Extent]:
        wanted = [TopicPartition(*part) for part in parts]
        with translated(self._connection.name):
            lows = self._consumer.beginning_offsets(wanted, timeout_ms=_REQUEST_MS)
            highs = self._consumer.end_offsets(wanted, timeout_ms=_REQUEST_MS)
        return {tuple(part): Extent(lows[part], highs[part]) for part in wanted}

    def log_ends(self, parts: Sequence[Part]) -> dict[Part, int]:
        with translated(self._connection.name), closing(self._open_admin()) as admin:
            found = admin.list_partition_offsets({TopicPartition(*part): _LATEST for part in parts})
        return {tuple(part): at.offset for part, at in found.items()}

    def offsets_at(self, parts: Sequence[Part], time_ms: int) -> dict[Part, int]:
        wanted = {TopicPartition(*part): time_ms for part in parts}
        with translated(self._connection.name):
            found = self._consumer.offsets_for_times(wanted, timeout_ms=_REQUEST_MS)
            ends = self._consumer.end_offsets(list(wanted), timeout_ms=_REQUEST_MS)
        return {tuple(part): ends[part] if found.get(part) is None else found[part].offset for part in wanted}

    def committed(self, parts: Sequence[Part]) -> dict[Part, int]:
        with translated(self._connection.name):
            found = {part: self._consumer.committed(TopicPartition(*part), timeout_ms=_REQUEST_MS) for part in parts}
        return {part: offset for part, offset in found.items() if offset is not None and offset >= 0}

    def assign(self, offsets: Mapping[Part, int]) -> None:
        with translated(self._connection.name):
            if self._membership is None:
                self._consumer.assign([TopicPartition(*part) for part in offsets])
            for part, offset in offsets.items():
                self._consumer.seek(TopicPartition(*part), offset)
                self._next[part] = offset

    def subscribe(self, topics: Sequence[str], rebalance: Rebalance) -> None:
        self._membership = Membership(self._consumer, rebalance, self._assignor, self._instance)
        with translated(self._connection.name):
            self._consumer.subscribe(list(topics), listener=self._membership)

    def poll(self, limit: int, seconds: float) -> list[Messages]:
        read = self._consumer.poll if self._membership is None else self._membership.poll
        with translated(self._connection.name):
            if self._raised is not None:
                raised, self._raised = self._raised, None
                raise raised
            found = read(int(seconds * 1000), limit)
        return [self._piece(part, records) for part, records in found.items()]

    def _piece(self, part: TopicPartition, records: Sequence[Any]) -> Messages:
        self._next[tuple(part)] = records[-1].offset + 1
        return from_records(part.topic, part.partition, records, _FIELDS, records[0].offset, self._connection.longest)

    def positions(self, parts: Sequence[Part]) -> dict[Part, int]:
        assigned = self._consumer.assignment()
        found = {part: self._position(part) for part in parts if TopicPartition(*part) in assigned}
        return {part: position for part, position in found.items() if position is not None}

    def _position(self, part: Part) -> int | None:
        """Without asking brokers; an error that kafka-python happens to raise here is left to the next poll."""
        try:
            position: int | None = self._consumer.position(TopicPartition(*part), timeout_ms=0)
        except errors.KafkaError as error:
            self._raised = error
            return self._next.get(part)
        return position

    def highs(self) -> dict[Part, int]:
        assigned = self._consumer.assignment()
        highs = {part: self._consumer.highwater(TopicPartition(*part)) for part in self._next if part in assigned}
        return {part: high for part, high in highs.items() if high is not None}

    def commit_soon(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        if self._membership is None or self._membership.is_current:
            with translated(self._connection.name):
                self._consumer.commit_async(_offsets(positions, metadata))

    def commit(self, positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> None:
        if self._membership is not None and not self._membership.is_current:
            raise ConnectorError("the group has removed this member")
        with translated(self._connection.name):
            try:
                self._consumer.commit(_offsets(positions, metadata), timeout_ms=_REQUEST_MS)
            except (errors.CommitFailedError, errors.RebalanceInProgressError):
                if self._membership is None:
                    raise
                self._membership.finish_joining()
                raise RebalancingError(f"the group at {self._connection.name} is rebalancing") from None

    def close(self, seconds: float) -> None:
        if self._membership is not None:
            self._membership.close()
        with suppress(errors.KafkaError):
            self._consumer.close(autocommit=False, timeout_ms=int(seconds * 1000))


def _offsets(positions: Mapping[Part, Mapping[str, Any]], metadata: str) -> dict[TopicPartition, OffsetAndMetadata]:
    return {
        TopicPartition(*part): OffsetAndMetadata(position["offset"], metadata, position.get("leader_epoch", -1))
        for part, position in positions.items()
    }
