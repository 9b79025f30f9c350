"""How kafka-python's consumer is a member of a group.

kafka-python tells of the group's changes on its own thread, which must go on sending heartbeats, and may not wait for
an answer to any request of its own; the thread that polls waits meanwhile. So a third one deals with a change: only
then kafka-python goes on, and nothing is read before.
"""

import threading
from collections.abc import Callable
from typing import Any

import kafka.errors as errors
from kafka import KafkaConsumer
from kafka.consumer.subscription_state import AsyncConsumerRebalanceListener
from kafka.coordinator.base import MemberState
from kafka.future import Future
from kafka.structs import TopicPartition

from connectors.kafka.client import Part, Rebalance
from streamlin.errors import ConnectorError


class Membership(AsyncConsumerRebalanceListener):  # type: ignore[misc]  # kafka-python has no types
    """Passes the group's changes on to a `Rebalance`, and seeks where that has reading begin.

    failure : what went wrong with the last change; kafka-python raises an error of its own for it.
    """

    def __init__(self, consumer: KafkaConsumer, rebalance: Rebalance) -> None:
        self._consumer, self._rebalance = consumer, rebalance
        self._unplaced: set[TopicPartition] = set()
        self.failure: Exception | None = None
        self.leaving = False
        self._coordinator = coordinator = consumer._coordinator
        self._answer: tuple[Any, bytes] | None = None
        self._join, coordinator._do_join_and_sync_async = coordinator._do_join_and_sync_async, self._joined
        self._complete, coordinator._on_join_complete_async = coordinator._on_join_complete_async, self._completed
        coordinator.generation_if_stable = self._generation

    @property
    def is_joining(self) -> bool:
        """Whether the group was asked for partitions and has not answered yet. Brokers answer nothing else meanwhile,
        and refuse then what was sent before."""
        task = self._coordinator._join_task
        return task is not None and not task.is_done

    def go_on(self) -> None:
        """Finish what was begun; kafka-python forgets that where its reason (new partitions) is gone meanwhile."""
        self._check()
        if lost := self._lost():
            self._rebalance.lost(_named(lost))
            self._disown()
            self._consumer._subscription.assign_from_subscribed([])
        if self._coordinator.rejoining:
            self._coordinator.request_rejoin()
        self._place()

    def _place(self) -> None:
        """Seek in what was assigned and has no position yet, which a failure may have left behind."""
        parts = self._unplaced & self._consumer.assignment()
        if parts:
            for part, offset in self._rebalance.assigned(_named(parts)).items():
                self._consumer.seek(TopicPartition(*part), offset)
        self._unplaced.clear()

    def _lost(self) -> set[TopicPartition]:
        """What is assigned here, but not in the group's eyes any more. kafka-python tells of that where a heartbeat is
        the first to hear of it, not where a join is."""
        assigned: set[TopicPartition] = self._consumer.assignment()
        return assigned if self._coordinator._generation.is_lost() else set()

    def _disown(self) -> None:
        """Claim nothing when the group is asked for partitions; kafka-python would claim what it had last."""
        for assignor in self._coordinator._assignors.values():
            assignor.member_assignment = None

    def _check(self) -> None:
        """Raise ConnectorError where another process has taken this one's place; kafka-python would read on."""
        coordinator = self._coordinator
        joined = coordinator.state is MemberState.STABLE and not coordinator.rejoining
        if joined and not coordinator._heartbeat_enabled:
            raise ConnectorError(f"another process is instance={coordinator.group_instance_id} of the group now")

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self._unplaced |= assigned
        await self._dealt_with(self._place)

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        if not self.leaving:
            await self._dealt_with(lambda: self._rebalance.revoked(_named(revoked)))

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self._disown()
        if not self.leaving:
            await self._dealt_with(lambda: self._rebalance.lost(_named(lost)))

    async def _dealt_with(self, deal: Callable[[], None]) -> None:
        done = Future()
        threading.Thread(target=self._deal, args=(deal, done), name="streamlin-group", daemon=True).start()
        await done

    def _deal(self, deal: Callable[[], None], done: Future) -> None:
        failure: Exception | None = None
        try:
            deal()
        except Exception as error:
            self.failure = failure = error

        def go_on() -> None:
            done.success(None) if failure is None else done.failure(failure)

        self._consumer._net.call_soon_threadsafe(go_on)

    def _generation(self) -> Any:
        """What commits are made under: also where an answer waits for the next poll, where kafka-python makes none."""
        generation = self._coordinator._generation
        return None if self.is_joining or generation.is_lost() else generation

    async def _joined(self) -> bytes:
        """What the group assigns to this member. If the answer comes between two polls, kafka-python does not take it,
        but asks anew: who polls seldom would never be done, nor would the rest of the group."""
        if self._lost():
            raise errors.KafkaTimeoutError  # at the next poll it is dealt with, and asked for anew
        if self._answer is None or self._answer[0] is not self._coordinator._generation:
            assigned = await self._join()
            self._answer = self._coordinator._generation, assigned
        return self._answer[1]

    async def _completed(self, *arguments: Any) -> None:
        self._answer = None
        await self._complete(*arguments)


def _named(parts: set[TopicPartition]) -> list[Part]:
    return sorted((part.topic, part.partition) for part in parts)
