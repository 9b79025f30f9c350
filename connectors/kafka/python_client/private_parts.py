"""Everything that is used of kafka-python without being public, and why.

tests/connectors/kafka/test_private_parts.py says which of it is missing when a new version comes.

1. `KafkaConsumer._coordinator` : the membership in the group; its methods `stable`, `need_rejoin`,
   `rebalance_in_progress` and `request_rejoin`. If a poll times out while the group answers, kafka-python may find
   that it need not rejoin any more: it then never takes the answer and sends no heartbeats, while it reads on. The
   state alone is public, as `group_metadata().state`, from 3.0.1 on.
2. `_coordinator._heartbeat_enabled` : false once another process has joined as the same static member. kafka-python
   logs that, and reads on.
"""

from kafka import KafkaConsumer


def is_stable(consumer: KafkaConsumer) -> bool:
    """Whether this is a member of the group, and no rebalance is in progress as far as it knows."""
    return bool(consumer._coordinator.stable())


def is_rebalancing(consumer: KafkaConsumer) -> bool:
    """Whether the group was asked for partitions, and its answer was not taken yet."""
    return bool(consumer._coordinator.rebalance_in_progress())


def rejoin(consumer: KafkaConsumer) -> None:
    """Have the next poll take the group's answer, or ask anew."""
    consumer._coordinator.request_rejoin()


def is_replaced(consumer: KafkaConsumer) -> bool:
    """Whether a member in good standing sends no heartbeats."""
    coordinator = consumer._coordinator
    return bool(coordinator.stable() and not coordinator.need_rejoin() and not coordinator._heartbeat_enabled)
