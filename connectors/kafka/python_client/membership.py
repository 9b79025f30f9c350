"""How kafka-python's consumer is a member of a group.

kafka-python reports the group's changes on its own thread, which must go on sending heartbeats, so that nothing may
wait there. The listener notes a change, and raises: that ends the poll at once, before anything is given back or read.
The thread that polls then deals with the change, and polls again.
"""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import kafka.errors as errors
from kafka import ConsumerRebalanceListener, KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.structs import TopicPartition

from connectors.kafka.client import Part, Rebalance
from connectors.kafka.python_client.private_parts import is_rebalancing, is_replaced, is_stable, rejoin
from streamlin.errors import ConnectorError

_JOIN_MS = 500
"""How long a poll waits for the group to answer. An answer that comes between two polls is lost, and asked for anew."""


class Assignor(CooperativeStickyAssignor):  # type: ignore[misc]  # kafka-python has no types
    """Claims no partitions for a member that the group has removed; kafka-python would claim what it had last."""

    is_removed: Callable[[], bool] | None = None

    def metadata(self, topics: Any) -> Any:
        if self.is_removed is not None and self.is_removed():
            self.member_assignment = None
        return super().metadata(topics)


class _GroupChangedError(Exception):
    """Ends a poll; kafka-python raises a KafkaError from it."""


class Membership(ConsumerRebalanceListener):  # type: ignore[misc]
    """Passes the group's changes on to a Rebalance, and seeks where reading is to begin."""

    def __init__(self, consumer: KafkaConsumer, rebalance: Rebalance, assignor: Assignor, instance: str | None) -> None:
        self._consumer, self._rebalance, self._assignor = consumer, rebalance, assignor
        self._instance, self._member_id = instance, ""
        self._read: set[TopicPartition] = set()
        self._new: set[TopicPartition] = set()
        self._changes: deque[tuple[Callable[[list[Part]], None], set[TopicPartition]]] = deque()
        self._is_leaving = self._is_closing = False
        assignor.is_removed = self._is_removed

    @property
    def is_current(self) -> bool:
        """Whether the partitions that are read are still this member's, so that their offsets may be committed."""
        return not self._changes and not self._is_removed()

    def poll(self, milliseconds: int, limit: int) -> dict[TopicPartition, list[Any]]:
        """Deal with the group's changes, and read records."""
        self._deal()
        if is_rebalancing(self._consumer):
            rejoin(self._consumer)
        if not is_stable(self._consumer):
            milliseconds = _JOIN_MS
        found: dict[TopicPartition, list[Any]] = {}
        try:
            found = self._consumer.poll(milliseconds, max_records=limit)
        except errors.KafkaError as error:
            if not isinstance(error.__cause__, _GroupChangedError):
                raise
        self._note_removal()
        found = {part: records for part, records in found.items() if part in self._read}
        self._deal()  # which may have the same partitions read from elsewhere
        return found

    def finish_joining(self) -> None:
        """Let a rebalance come to its end, so that a last commit is taken; nothing more is read."""
        self._is_leaving = True
        self._consumer.pause(*self._consumer.assignment())
        with suppress(errors.KafkaError):
            self._consumer.poll(_JOIN_MS)

    def close(self) -> None:
        """Take no more notice of the group."""
        self._is_closing = True

    # kafka-python calls these while the consumer is polled or closed.

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._note_removal()
        self._hold(set(assigned))
        self._end_poll()

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self._note_removal()
        self._note(self._rebalance.revoked, set(revoked))
        self._end_poll()

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        self._assignor.member_assignment = None
        self._note(self._rebalance.lost, set(lost))
        self._end_poll()

    def _end_poll(self) -> None:
        if not self._is_closing:
            raise _GroupChangedError

    def _note(self, tell: Callable[[list[Part]], None], parts: set[TopicPartition]) -> None:
        told = parts & self._read
        self._read -= told
        self._new -= parts
        if told and not self._is_leaving and not self._is_closing:
            self._changes.append((tell, told))

    def _hold(self, parts: set[TopicPartition]) -> None:
        """Read nothing of these partitions until it is known where to begin."""
        self._new |= parts
        for part in parts:
            self._consumer.seek(part, 0)
        self._consumer.pause(*parts)

    def _is_removed(self) -> bool:
        """Whether the group has removed this member, under the name that it had when it was assigned partitions."""
        return bool(self._consumer.group_metadata().member_id != self._member_id)

    def _note_removal(self) -> None:
        """What is assigned may have been another member's meanwhile; kafka-python does not always tell."""
        if self._is_removed():
            self._note(self._rebalance.lost, set(self._read))
            self._hold(self._consumer.assignment())
            self._member_id = self._consumer.group_metadata().member_id

    def _deal(self) -> None:
        if is_replaced(self._consumer):  # kafka-python would read on
            raise ConnectorError(f"another process is instance={self._instance} of the group now")
        while self._changes:
            tell, parts = self._changes.popleft()
            tell(_sorted(parts))
        parts = self._new & self._consumer.assignment()
        if parts and is_stable(self._consumer):
            for part, offset in self._rebalance.assigned(_sorted(parts)).items():
                self._consumer.seek(TopicPartition(*part), offset)
            self._read |= parts
            self._new.clear()
            self._consumer.resume(*parts)


def _sorted(parts: set[TopicPartition]) -> list[Part]:
    return sorted((part.topic, part.partition) for part in parts)
