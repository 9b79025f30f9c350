"""Options of URLs: what they say, and each refusal by its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.kafka import client_settings
from connectors.kafka.options import SinkOptions, SourceOptions, Start, parse_start, sink_options, source_options
from streamlin.errors import ConfigError
from tests.integration.kafka.readers import kafka


def refusal(parse, options):
    with pytest.raises(ConfigError) as raised:
        parse(options)
    return str(raised.value)


def test_what_no_option_says():
    assert source_options({}) == SourceOptions()
    assert sink_options({}) == SinkOptions()


def test_every_option_of_a_source():
    found = source_options(
        {
            "client": "confluent",
            "group": "readers",
            "instance": "one",
            "start": "latest",
            "assignment": "group",
            "on_gap": "continue",
            "wait_for_topic": "true",
            "max_batch_wait_ms": "20",
            "fetch_max_bytes": "1000",
            "max_partition_fetch_bytes": "2000",
            "max_poll_interval_ms": "3000",
            "session_timeout_ms": "4000",
            "client.fetch.min.bytes": "5",
        }
    )
    assert found == SourceOptions(
        client="confluent",
        own={"fetch.min.bytes": "5"},
        group="readers",
        instance="one",
        start="latest",
        assignment="group",
        on_gap="continue",
        wait_for_topic="true",
        max_batch_wait_ms="20",
        fetch_max_bytes="1000",
        max_partition_fetch_bytes="2000",
        max_poll_interval_ms="3000",
        session_timeout_ms="4000",
    )
    assert (found.start, found.max_batch_wait_ms, found.session_timeout_ms) == (Start("latest"), 20, 4000)
    other = source_options({"stop": "end", "max_batch_wait_ms": "0"})
    assert (other.stop, other.max_batch_wait_ms) == ("end", 0)


def test_every_option_of_a_sink():
    options = {"client": "confluent", "compression": "zstd", "linger_ms": "0", "transactional": "t", "group": "g"}
    found = sink_options(options | {"client.x": "y"})
    assert found.model_dump() == options | {"own": {"x": "y"}, "linger_ms": 0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grup": "g"}, "kafka source: no option 'grup'; did you mean 'group'?"),
        ({"client": "java"}, "kafka: client=java: expected kafka-python or confluent"),
        ({"assignment": "mine"}, "kafka: assignment=mine: expected all or group"),
        ({"assignment": "group"}, "kafka source: assignment=group needs group=NAME"),
        ({"group": "", "assignment": "group"}, "kafka source: assignment=group needs group=NAME"),
        ({"group": "g", "instance": "i"}, "kafka source: instance= needs assignment=group"),
        ({"stop": "now"}, "kafka: stop=now: expected end"),
        (
            {"stop": "end", "group": "g", "assignment": "group"},
            "kafka source: stop=end needs assignment=all: a group's partitions come and go",
        ),
        ({"on_gap": "ignore"}, "kafka: on_gap=ignore: expected stop or continue"),
        ({"wait_for_topic": "yes"}, "kafka: wait_for_topic=yes: expected false or true"),
        ({"max_batch_wait_ms": "-1"}, "kafka: max_batch_wait_ms=-1: expected a whole number, at least 0"),
        ({"fetch_max_bytes": "0"}, "kafka: fetch_max_bytes=0: expected a whole number, at least 1"),
        (
            {"max_partition_fetch_bytes": "1e6"},
            "kafka: max_partition_fetch_bytes=1e6: expected a whole number, at least 1",
        ),
        ({"max_poll_interval_ms": "²"}, "kafka: max_poll_interval_ms=²: expected a whole number, at least 1"),
        ({"session_timeout_ms": ""}, "kafka: session_timeout_ms=: expected a whole number, at least 1"),
    ],
)
def test_what_a_source_refuses(options, message):
    assert refusal(source_options, options) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compresion": "gzip"}, "kafka sink: no option 'compresion'; did you mean 'compression'?"),
        ({"compression": "zip"}, "kafka: compression=zip: expected none, gzip, snappy, lz4 or zstd"),
        ({"linger_ms": "soon"}, "kafka: linger_ms=soon: expected a whole number, at least 0"),
        ({"transactional": "t"}, "kafka sink: transactional=ID and group=NAME, the source's group, need each other"),
        ({"group": "g"}, "kafka sink: transactional=ID and group=NAME, the source's group, need each other"),
        ({"start": "latest"}, "kafka sink: no option 'start'; choose one of "),
    ],
)
def test_what_a_sink_refuses(options, message):
    assert refusal(sink_options, options).startswith(message)


SECRETS = ["password", "Token", "sasl_password", "client.sasl_plain_password", "client.ssl.key.password"]
SECRETS += ["client.sasl.jaas.config", "client.sasl.oauthbearer.client.secret", "client.ssl.keystore.credentials"]


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("parse", [source_options, sink_options])
def test_a_secret_is_refused_and_not_shown(parse, name):
    said = refusal(parse, {name: "hunter2"})
    assert said.endswith(f": '{name}' must not be in a URL; set secrets in [kafka] of the configuration")
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("earliest", Start("earliest")),
        ("latest", Start("latest")),
        ("0", Start("offset", offset=0)),
        ("9000000000", Start("offset", offset=9_000_000_000)),
        ("2024-05-01T12:00:00Z", Start("time", time_ms=1_714_564_800_000)),
        ("2024-05-01T14:00:00.001+02:00", Start("time", time_ms=1_714_564_800_001)),
        ("2024-05-01T12:00:00", Start("time", time_ms=1_714_564_800_000)),
        ("2024-05-01", Start("time", time_ms=1_714_521_600_000)),
        ("1969-12-31T23:59:59.998Z", Start("time", time_ms=0)),
    ],
)
def test_where_to_start(text, start):
    """Before 1970 is the beginning: to a broker -2 would mean something else."""
    assert parse_start(text) == start


@given(st.datetimes(timezones=st.timezones()).filter(lambda moment: moment.year > 1970))
def test_any_millisecond(moment):
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    found = parse_start(moment.isoformat())
    assert found.time_ms is not None
    assert abs(found.time_ms / 1000 - moment.timestamp()) < 0.0005


@pytest.mark.parametrize("text", ["", "Earliest", "-1", "1.5", "noon", "2024-13-01", "²"])
def test_what_is_no_start(text):
    assert refusal(parse_start, text) == (
        f"kafka source: start={text}: expected earliest, latest, an offset, or a time as 2024-05-01T12:00:00Z"
    )


# `client.` settings.


def python_settings(name, text):
    return client_settings.for_kafka_python({name: text}, kafka.KafkaConsumer.DEFAULT_CONFIG)[name]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("fetch_min_bytes", "7", 7),
        ("check_crcs", "false", False),
        ("check_crcs", "true", True),
        ("client_id", "007", "007"),
        ("client_id", "true", "true"),
        ("receive_buffer_bytes", "65536", 65536),
        ("proxy_url", "socks5://localhost:1080", "socks5://localhost:1080"),
    ],
)
def test_values_have_the_types_that_kafka_python_wants(name, text, value):
    found = python_settings(name, text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("fetch_min_byte", "7", "kafka-python has no such setting; did you mean 'fetch_min_bytes'?"),
        ("fetch.min.bytes", "7", "kafka-python has no such setting; did you mean 'fetch_min_bytes'?"),
        ("zzz", "7", "kafka-python has no such setting"),
    ],
)
def test_a_setting_that_kafka_python_has_not(name, text, message):
    with pytest.raises(ConfigError) as raised:
        python_settings(name, text)
    assert str(raised.value) == f"kafka: client.{name}: {message}"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("fetch_min_bytes", "many", "fetch_min_bytes=many: expected a number"),
        ("fetch_min_bytes", "true", "fetch_min_bytes=true: expected a number"),
        ("check_crcs", "1", "check_crcs=1: expected true or false"),
        ("selector", "fast", "selector can't be set in a URL"),
        ("socket_options", "1", "socket_options can't be set in a URL"),
        ("default_offset_commit_callback", "x", "default_offset_commit_callback can't be set in a URL"),
    ],
)
def test_a_value_that_kafka_python_could_not_use(name, text, message):
    with pytest.raises(ConfigError) as raised:
        python_settings(name, text)
    assert str(raised.value) == f"kafka: client.{message}"


OURS = ["enable_auto_commit", "auto_offset_reset", "isolation_level", "group_id", "bootstrap_servers", "acks"]
OURS += ["enable_idempotence", "transactional_id", "sasl_mechanism", "ssl_check_hostname", "security_protocol"]


@pytest.mark.parametrize("name", OURS)
def test_what_exactly_once_rests_on_can_not_be_set(name):
    """For kafka-python with underscores, for confluent-kafka with dots, where that has it."""
    message = "can't be set: streamlin sets it, by its own options and \\[kafka\\]"
    with pytest.raises(ConfigError, match=f"kafka: client.{name} {message}"):
        client_settings.for_kafka_python(
            {name: "true"}, kafka.KafkaConsumer.DEFAULT_CONFIG | kafka.KafkaProducer.DEFAULT_CONFIG
        )
    dotted = name.replace("_", ".")
    with pytest.raises(ConfigError, match=f"kafka: client.{dotted} {message}"):
        client_settings.for_confluent({dotted: "true"})


@pytest.mark.parametrize(
    "name",
    ["enable.auto.offset.store", "auto.commit.enable", "enable.ssl.certificate.verification", "request.required.acks"],
)
def test_librdkafka_has_more_names_for_some(name):
    with pytest.raises(ConfigError, match="can't be set"):
        client_settings.for_confluent({name: "true"})


def test_all_else_is_left_to_librdkafka():
    assert client_settings.for_confluent({"fetch.min.bytes": "x"}) == {"fetch.min.bytes": "x"}
