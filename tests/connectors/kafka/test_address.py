"""Brokers and topics of a URL."""

import pytest

from connectors.kafka.address import KafkaAddress, parse_address
from connectors.kafka.source import KafkaSource
from streamlin.errors import ConfigError
from streamlin.streams.addresses import parse_address as parse_url


@pytest.mark.parametrize(
    ("text", "servers", "topics"),
    [
        ("localhost:9092/tickets", ["localhost:9092"], ["tickets"]),
        ("localhost/tickets", ["localhost:9092"], ["tickets"]),
        ("a:1,b,c:3/x,y", ["a:1", "b:9092", "c:3"], ["x", "y"]),
        ("a:1,/x,,y,x", ["a:1"], ["x", "y"]),
        ("kafka_1.my-net.example.:9094/My.topic_0-1", ["kafka_1.my-net.example.:9094"], ["My.topic_0-1"]),
        ("10.0.0.1:65535/t", ["10.0.0.1:65535"], ["t"]),
        ("[::1]:9092/t", ["[::1]:9092"], ["t"]),
        ("[fe80::1]/t", ["[fe80::1]:9092"], ["t"]),
        ("h/" + "t" * 249, ["h:9092"], ["t" * 249]),
    ],
)
def test_brokers_and_topics(text, servers, topics):
    """As the rest of a URL says them."""
    expected = KafkaAddress(tuple(servers), tuple(topics))
    assert parse_address(text) == expected
    assert parse_address(parse_url(f"kafka://{text}?client=confluent", "stdin").address) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "kafka://: no broker; expected kafka://host:port/topic"),
        ("/topic", "kafka:///topic: no broker; expected kafka://host:port/topic"),
        ("localhost:9092", "kafka://localhost:9092: no topic; expected kafka://host:port/topic"),
        ("localhost:9092/", "kafka://localhost:9092/: no topic; expected kafka://host:port/topic"),
        ("localhost:9092/,", "kafka://localhost:9092/,: no topic; expected kafka://host:port/topic"),
    ],
)
def test_what_is_missing(text, message):
    with pytest.raises(ConfigError) as raised:
        parse_address(text)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "server",
    ["a:", "a:b", "a:0", "a:65536", "a:123456", "a b", "a..b", ".a", "ü", "x" * 64, "::1", "[::1", "[g::1]:1", ":9092"],
)
def test_what_is_no_broker(server):
    with pytest.raises(ConfigError) as raised:
        parse_address(f"good:1,{server}/topic")
    assert (
        str(raised.value) == f"kafka: invalid broker '{server}'; expected host:port, as in kafka://localhost:9092/topic"
    )


@pytest.mark.parametrize("topic", [".", "..", "a b", "a/b", "ü", "t" * 250, "a*"])
def test_what_is_no_topic(topic):
    with pytest.raises(ConfigError) as raised:
        parse_address(f"localhost/good,{topic}")
    assert str(raised.value).startswith(f"kafka: invalid topic '{topic}'; expected at most 249 ")


@pytest.mark.parametrize("password", ["hunter2", "hun/ter2", "hunter2:9", "@hunter2"])
def test_a_password_is_refused_and_not_shown(password):
    with pytest.raises(ConfigError) as raised:
        parse_address(f"alice:{password}@localhost:9092/topic")
    assert str(raised.value) == (
        "kafka: the URL contains a user or a password; set them in [kafka] of the configuration"
    )


def test_a_checkpoint_knows_a_source_by_its_brokers():
    """In whatever order they stand, whichever topics are read."""
    keys = {KafkaSource.key(text) for text in ("a:1,b:2/x", "b:2,a:1/x", "b:2,a:1/x,y")}
    assert keys == {"a:1,b:2"}
    assert KafkaSource.key("a/x") == KafkaSource.key("a:9092/y")
