"""What is used of kafka-python beyond its documentation is still there; if not, the message says what breaks."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.integration.kafka.readers import kafka

PART = kafka.TopicPartition("topic", 3)


@pytest.fixture
def consumer() -> Iterator[Any]:
    """A member-to-be of a group, without a broker."""
    from connectors.kafka.python_client.connections import Client

    settings = {"bootstrap_servers": "127.0.0.1:1", "api_version": (4, 1), "kafka_client": Client}
    with closing(kafka.KafkaConsumer(group_id="g", enable_auto_commit=False, **settings)) as consumer:
        yield consumer


def test_the_coordinator_tells_the_state_of_the_membership(consumer: Any) -> None:
    from connectors.kafka.python_client.private_parts import is_rebalancing, is_stable

    broken = "KafkaConsumer._coordinator: rebalances are not noticed, and polls are too short to end them"
    assert hasattr(consumer, "_coordinator"), broken
    assert (is_stable(consumer), is_rebalancing(consumer)) == (False, False), broken


def test_a_rejoin_can_be_requested(consumer: Any) -> None:
    from connectors.kafka.python_client.private_parts import rejoin

    broken = "_coordinator.request_rejoin(): an answer of the group may never be taken, the group removes the member"
    consumer.subscribe(["topic"])
    consumer._coordinator.rejoin_needed = False
    rejoin(consumer)
    assert consumer._coordinator.need_rejoin() is True, broken


def test_a_replaced_static_member_sends_no_heartbeats(consumer: Any) -> None:
    from connectors.kafka.python_client.private_parts import is_replaced

    broken = "_coordinator._heartbeat_enabled: a static member that another process has replaced reads on"
    assert getattr(consumer._coordinator, "_heartbeat_enabled", None) is False, broken
    assert not is_replaced(consumer), broken


def test_the_hooks_of_connections_are_there() -> None:
    """Public names of kafka-python, but not in its documentation."""
    from kafka.net.compat import KafkaNetClient
    from kafka.net.manager import KafkaConnectionManager

    from connectors.kafka.python_client.connections import Client

    refused = "KafkaConnectionManager.get_connection: a wrong password is tried again until kafka.connect_timeout"
    assert callable(getattr(KafkaConnectionManager, "get_connection", None)), refused
    waiting = "KafkaNetClient.await_ready: a transaction that begins without a broker is never committed"
    assert callable(getattr(KafkaNetClient, "await_ready", None)), waiting
    client = Client(bootstrap_servers=["127.0.0.1:1"], allow_auto_create_topics=False)
    created = "cluster.config: asking for a deleted topic creates it again"
    assert client.cluster.config.get("allow_auto_create_topics") is False, created
    client.close()


def test_the_assignor_remembers_what_it_claims() -> None:
    from connectors.kafka.python_client.membership import Assignor

    broken = "CooperativeStickyAssignor.member_assignment: a removed member claims partitions of others"
    assignor = Assignor()
    assert assignor.member_assignment is None, broken
    assignor.member_assignment = [PART]
    assert assignor.metadata({"topic"}).owned_partitions, broken
    assignor.is_removed = lambda: True
    assert not assignor.metadata({"topic"}).owned_partitions, broken
