"""Which errors of librdkafka are waited out."""

import pytest
from confluent_kafka import KafkaError

from connectors.kafka.confluent_client.librdkafka import translation
from connectors.kafka.errors import UnreachableError


@pytest.mark.parametrize(
    "code", [KafkaError._TRANSPORT, KafkaError._DESTROY_BROKER, KafkaError.NOT_LEADER_FOR_PARTITION]
)
def test_brokers_that_are_away_for_now(code: int) -> None:
    assert isinstance(translation(KafkaError(code), "h:1"), UnreachableError)


@pytest.mark.parametrize("code", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._FATAL])
def test_brokers_that_refuse(code: int) -> None:
    assert not isinstance(translation(KafkaError(code), "h:1"), UnreachableError)
