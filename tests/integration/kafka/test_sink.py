"""Topics as sinks: predictions by id, dead letters as they came."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from connectors.kafka.messages import CUT, from_lists
from connectors.kafka.sink import KafkaSink
from deploy.kafka.broker import Broker
from streamlin.errors import ConfigError, ConnectorError
from streamlin.events import SinkContext, single_records
from tests.command_line import refused
from tests.integration.kafka.broker import Found, produce, read_all
from tests.integration.kafka.clients import CLIENTS
from tests.integration.kafka.conftest import Topics
from tests.integration.kafka.runs import QUICK, ran, url
from tests.integration.processes import streamlin
from tests.integration.streams import write_lines

SMALL = {"max.message.bytes": "20000"}


def opened(broker: Broker, topic: str, client: str, **options: str) -> KafkaSink:
    settings = {"give_up_after": 20.0}
    return KafkaSink(f"{broker.address}/{topic}", SinkContext({"client": client, **options}, settings=settings))


def write(sink: KafkaSink, keys: Sequence[str], lines: Sequence[bytes]) -> None:
    text = b"".join(line + b"\n" for line in lines)
    sink.write_messages(memoryview(text), np.cumsum([0, *(len(line) + 1 for line in lines)]), keys)


def content(broker: Broker, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    return [(found.key, found.value) for found in read_all(broker.address, topic)]


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_messages_arrive_in_order(broker: Broker, topic: Topics, client: str, compression: str) -> None:
    """Thousands at once and one at a time, compressed; some are empty, some have unusual keys."""
    name = topic()
    keys = [f"key {i}" for i in range(3000)] + ["é文😀", "a\0b", "long" * 5000]
    lines = [b"line %d " % i * (i % 40) for i in range(3000)] + [b"x" * 300_000, b"", b"{}"]
    sink = opened(broker, name, client, compression=compression)
    write(sink, keys[:2999], lines[:2999])
    for i in range(2999, 3003):
        write(sink, [keys[i]], [lines[i]])
    sink.flush()
    sink.sync()
    assert content(broker, name) == [(key.encode(), line) for key, line in zip(keys, lines, strict=True)]
    write(sink, ["last"], [b"after a sync"])
    sink.sync()
    sink.close()
    assert content(broker, name)[3003:] == [(b"last", b"after a sync")]


HASHES = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}
"""Java's murmur2 of some keys: org.apache.kafka.common.utils.UtilsTest.testMurmur2."""


def test_keys_have_the_partitions_of_javas_default_partitioner(broker: Broker, topic: Topics) -> None:
    """With both clients: `toPositive(murmur2(key)) % partitions`; they agree on any other key."""
    keys = [*HASHES, *(f"key {i}" for i in range(200)), "é文😀", "x"]
    found = []
    for client in CLIENTS:
        name = topic(7)
        sink = opened(broker, name, client)
        write(sink, keys, [b"value"] * len(keys))
        sink.sync()
        sink.close()
        found.append({one.key.decode(): one.partition for one in read_all(broker.address, name) if one.key})
    assert found[0] == found[1]
    assert found[0].keys() == set(keys)
    assert {key: found[0][key] for key in HASHES} == {key: (value & 0x7FFFFFFF) % 7 for key, value in HASHES.items()}


def test_a_topic_that_takes_small_batches(broker: Broker, topic: Topics, client: str) -> None:
    """kafka-python splits batches that are too large, librdkafka needs a setting: all arrive once, in order."""
    name = topic(2, SMALL)
    lines = [b"line %5d " % i * 5 for i in range(10_000)]
    smaller = {"client.batch.size": "15000"} if client == "confluent" else {}
    sink = opened(broker, name, client, **smaller)
    send_all(sink, lines)
    sink.close()
    found = [(one.partition, int(one.key or b""), one.value) for one in read_all(broker.address, name)]
    assert found == sorted(found)
    assert sorted((number, line) for _, number, line in found) == list(enumerate(lines))


def test_the_error_of_large_batches_names_the_setting(broker: Broker, topic: Topics) -> None:
    sink = opened(broker, topic(1, SMALL), "confluent")
    with pytest.raises(ConnectorError, match=r"not taken a message: .*; with client\.batch\.size="):
        send_all(sink, [b"line"] * 10_000)
    sink.close()


def send_all(sink: KafkaSink, lines: Sequence[bytes]) -> None:
    """Under their numbers as keys."""
    for begin in range(0, len(lines), 1000):
        end = min(begin + 1000, len(lines))
        write(sink, [str(i) for i in range(begin, end)], lines[begin:end])
    sink.sync()


@pytest.mark.parametrize("place", [0, 500, 999])
def test_one_message_that_the_topic_does_not_take(broker: Broker, topic: Topics, client: str, place: int) -> None:
    """It is an error wherever it is among others; no message is lost silently."""
    name = topic(1, SMALL)
    lines = [b"x" * (30_000 if i == place else 10) for i in range(1000)]
    sink = opened(broker, name, client)
    with pytest.raises(ConnectorError) as raised:
        send_all(sink, lines)
    sink.close()
    said = f"its value of 30,000 bytes for topic '{name}', partition 0 is, with key and headers, over the topic's "
    assert f"have not taken a message: {said}max.message.bytes" in str(raised.value)


@pytest.mark.parametrize("large", ["line", "dead letter"])
def test_one_message_that_the_client_does_not_send(broker: Broker, topic: Topics, client: str, large: str) -> None:
    """The error names its size, the topic, and the option; with it the message arrives."""
    option = {"kafka-python": "client.max_request_size", "confluent": "client.message.max.bytes"}[client]
    name, limit, value = topic(1, {"max.message.bytes": "3000000"}), 20_000, b"x" * 30_000

    def send(sink: KafkaSink) -> None:
        if large == "line":
            write(sink, ["key"], [value])
        else:
            sink.write_dead_letter("no JSON", single_records([value], "a.jsonl"), 0)
        sink.sync()

    sink = opened(broker, name, client, **{option: str(limit)})
    with pytest.raises(ConnectorError) as raised:
        send(sink)
    sink.close()
    assert str(raised.value).startswith(f"a message can't be sent: its value of 30,000 bytes for topic '{name}'")
    assert str(raised.value).endswith(f", over {option}={limit}, an option of the sink")
    sink = opened(broker, name, client, **{option: "2000000"})
    send(sink)
    sink.close()
    assert [found for _, found in content(broker, name)] == [value]


# Dead letters.


def dead_letter(found: Found) -> tuple[dict[str, bytes | None], bytes | None, bytes | None]:
    return dict(found.headers), found.key, found.value


def test_a_dead_letter_is_the_message_as_it_was(broker: Broker, topic: Topics, client: str) -> None:
    """With its key, bytes and headers; more headers have the error and the position."""
    name = topic()
    records = from_lists("tickets", 3, [70, 75], [b"\xff\x00no JSON\n", b""], 100)
    records.keys, records.headers = [b"\xfe\x00", None], [[("trace", b"\x01"), ("trace", b"2")], []]
    sink = opened(broker, name, client)
    sink.write_dead_letter("not UTF-8: é", records, 0)
    sink.write_dead_letter("the message is empty", records, 1)
    sink.sync()
    sink.close()
    first, second = read_all(broker.address, name)
    assert (first.key, first.value) == (b"\xfe\x00", b"\xff\x00no JSON\n")
    own = {
        "streamlin.error": "not UTF-8: é".encode(),
        "streamlin.position": b"tickets/3/70",
        "streamlin.topic": b"tickets",
        "streamlin.partition": b"3",
        "streamlin.offset": b"70",
    }
    assert list(first.headers) == [("trace", b"\x01"), ("trace", b"2"), *own.items()]
    assert (second.key, second.value) == (None, b"")
    assert dict(second.headers)["streamlin.offset"] == b"75"


def test_a_dead_letter_that_fails_again(broker: Broker, topic: Topics, tmp_path: Path, client: str) -> None:
    """It keeps where it was first, and has the last error and a count; no header twice."""
    names = [topic() for _ in range(4)]
    produce(broker.address, names[0], [(b"k", b"no JSON\n", [("trace", b"1"), ("trace", b"2")])])
    for number, (read, written) in enumerate(pairwise(names)):
        source, to = (url(broker.address, name, client) for name in (read, written))
        ran(tmp_path, f"{source}&stop=end&format={('json', 'vw', 'json')[number]}", "--dead-letters", to, code=3)
        [found] = read_all(broker.address, written)
        assert (found.key, found.value) == (b"k", b"no JSON\n")
        own = {name: value for name, value in found.headers if name != "trace"}
        assert list(found.headers) == [("trace", b"1"), ("trace", b"2"), *own.items()]
        assert (b"VW" if number == 1 else b"JSON") in (own.pop("streamlin.error") or b"")
        failures = {"streamlin.failures": b"%d" % (number + 1)} if number else {}
        assert own == failures | {
            "streamlin.position": f"{names[0]}/0/0".encode(),
            "streamlin.topic": names[0].encode(),
            "streamlin.partition": b"0",
            "streamlin.offset": b"0",
        }


SIZES = [980_000, 989_999, 990_000, 990_001, 1_000_000, 1_000_001, 1_048_576, 3_000_000]


@pytest.mark.parametrize("size", SIZES)
def test_a_dead_letter_larger_than_a_message_may_be(broker: Broker, topic: Topics, client: str, size: int) -> None:
    """A message of a topic's default limit is kept whole, 64 KiB of a larger one. Keys and headers count."""
    name = topic()
    sink = opened(broker, name, client)
    sink.write_dead_letter("no JSON", single_records([b"x" * size], "a.jsonl"), 0)
    records = from_lists("t", 0, [0], [b"y" * size], 1 << 30)
    records.keys, records.headers = [b"k" * 1000], [[("h", b"v" * 1000)]]
    sink.write_dead_letter("no JSON", records, 0)
    sink.sync()
    sink.close()
    for found in read_all(broker.address, name):
        headers, _, value = dead_letter(found)
        assert value is not None
        whole = len(value) == size and "streamlin.truncated" not in headers
        cut = len(value) == CUT and headers["streamlin.truncated"] == b"true"
        assert (whole, cut) in ((True, False), (False, True))
        assert whole or size > 980_000


def test_a_dead_letter_whose_key_or_headers_are_too_large(broker: Broker, topic: Topics, client: str) -> None:
    """A part of the key is kept, and no headers: without the dead letter a run could not continue."""
    name = topic()
    sink = opened(broker, name, client)
    for key, headers in ((b"k" * 1_000_000, []), (b"k", [("h", b"v" * 1_000_000)]), (b"k" * 900_000, [("h", b"v")])):
        records = from_lists("t", 0, [0], [b"no event" * 10_000], 1 << 30)
        records.keys, records.headers = [key], [headers]
        sink.write_dead_letter("no JSON", records, 0)
    sink.sync()
    sink.close()
    cut, bare, whole = read_all(broker.address, name)
    for found, key in ((cut, b"k" * CUT), (bare, b"k")):
        assert (found.key, found.value) == (key, b"no event" * (CUT // 8))
        assert "h" not in dict(found.headers)
        assert dict(found.headers)["streamlin.truncated"] == b"true"
    assert (whole.key, len(whole.value)) == (b"k" * 900_000, 80_000)
    assert dict(whole.headers)["h"] == b"v"


def test_a_dead_letter_that_the_source_has_cut(broker: Broker, topic: Topics, client: str) -> None:
    """A message of more than `max_record_bytes` is marked as truncated."""
    name = topic()
    sink = opened(broker, name, client)
    whole = single_records([b"x" * CUT])
    sink.write_dead_letter("no JSON", whole, 0)
    sink.write_dead_letter("too long", replace(whole, errors={0: "too long"}), 0)
    sink.sync()
    sink.close()
    first, second = read_all(broker.address, name)
    assert "streamlin.truncated" not in dict(first.headers)
    assert dict(second.headers)["streamlin.truncated"] == b"true"


# Whole runs.


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Events with and without ids, and records that are not events."""
    events: list[Any] = [
        {"id": f"é {i}", "text": f"word{i % 7} word{i % 5}", "label": "ab"[i % 7 < 3]} for i in range(300)
    ]
    for event in events[::10]:
        del event["id"]
    events[50:50] = [b'{"text": 1, "label": "a"}', b"\xff" + b"x" * 1_200_000, b'{"text": "unlabelled"}']
    return write_lines(tmp_path_factory.mktemp("stream") / "stream.jsonl", events)


@pytest.fixture(scope="module")
def expected(stream: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[bytes, bytes]:
    """The lines of a file after the same run, by their ids or positions."""
    folder = tmp_path_factory.mktemp("expected")
    ran(folder, stream, "--predictions", folder / "out.jsonl")
    lines = (folder / "out.jsonl").read_bytes().splitlines()
    named = {line.get("id", line.get("position")).encode(): line for line in map(json.loads, lines)}
    assert len(named) == len(lines) == 301
    return dict(zip(named, lines, strict=True))


def test_from_a_file_to_topics(
    broker: Broker, topic: Topics, tmp_path: Path, client: str, stream: Path, expected: dict[bytes, bytes]
) -> None:
    """Predictions equal the lines of a file, with the id as key; a part of a large dead letter is kept."""
    predictions, dead = topic(3), topic()
    report, _ = ran(
        *(tmp_path, stream, "--predictions", url(broker.address, predictions, client, compression="zstd")),
        *("--dead-letters", url(broker.address, dead, client), "--checkpoint", tmp_path / "state"),
    )
    assert (report["events"], report["dead_letters"]) == (301, 2)
    found = content(broker, predictions)
    assert len(found) == 301
    assert dict(found) == expected
    first, second = read_all(broker.address, dead)
    assert first.value == b'{"text": 1, "label": "a"}'
    position = dict(first.headers)["streamlin.position"]
    assert position == b"%s:%d" % (os.fsencode(stream), stream.read_bytes().index(first.value))
    assert second.value == b"\xff" + b"x" * (CUT - 1)
    assert dict(second.headers)["streamlin.truncated"] == b"true"


def test_from_topic_to_topic(broker: Broker, topic: Topics, tmp_path: Path, client: str) -> None:
    """Dead letters keep key, bytes and headers; an event without an id is named by its position. Then the model
    predicts another topic."""
    source, predictions, dead, more = topic(), topic(2), topic(), topic()
    to = (url(broker.address, predictions, client), "--dead-letters", url(broker.address, dead, client))
    messages: list[Any] = [
        (b"k1", b'{"text": "fine", "label": "good"}', [("h", b"1")]),
        (b"\xfe", b"no JSON", [("h", b"2")]),
        (None, b"", ()),
        (b"k4", None, ()),
        (b"k5", b'{"text": "fine", "id": "own"}', ()),
    ]
    produce(broker.address, source, messages)
    state = tmp_path / "state"
    source_url = url(broker.address, source, client, stop="end")
    report, _ = ran(tmp_path, source_url, "--checkpoint", state, "--predictions", *to)
    assert (report["events"], report["dead_letters"], report["tombstones"]) == (2, 2, 1)
    found = {key: json.loads(value or b"") for key, value in content(broker, predictions)}
    assert {key: line["id"] for key, line in found.items()} == {
        b"own": "own",
        f"{source}/0/0".encode(): f"{source}/0/0",
    }
    letters = read_all(broker.address, dead)
    assert [(letter.key, letter.value) for letter in letters] == [(b"\xfe", b"no JSON"), (None, b"")]
    assert letters[0].headers[0] == ("h", b"2")
    assert [dict(letter.headers)["streamlin.offset"] for letter in letters] == [b"1", b"2"]
    assert all(dict(letter.headers)["streamlin.topic"] == source.encode() for letter in letters)

    streamlin(
        *("predict", state, url(broker.address, source, client, stop="end")),
        *("--predictions", url(broker.address, more, client)),
    )
    assert {key: json.loads(value or b"")["predicted"] for key, value in content(broker, more)} == dict.fromkeys(
        found, "good"
    )


def test_predictions_cannot_go_to_the_source_topic() -> None:
    """It is refused without a broker."""
    to = url("127.0.0.1:1", "tickets", "confluent")
    said = refused("run", url("127.0.0.1:1", "other,tickets", "kafka-python"), *QUICK, "--predictions", to)
    assert said == f"sinks.predictions: {to} is the topic that is read; give another one"


WRONG = [
    ("kafka-python", "zzz", "1", "kafka: client.zzz: kafka-python has no such setting"),
    ("kafka-python", "linger_ms", "soon", "kafka: client.linger_ms=soon: expected a number"),
    ("kafka-python", "acks", "0", "kafka: client.acks can't be set: streamlin sets it, by its own options and [kafka]"),
    ("confluent", "zzz", "1", 'kafka: confluent-kafka refuses a setting: No such configuration property: "zzz"'),
    ("confluent", "linger.ms", "soon", "kafka: confluent-kafka refuses a setting: Invalid value for "),
    ("confluent", "acks", "0", "kafka: client.acks can't be set: streamlin sets it, by its own options and [kafka]"),
    ("confluent", "message.max.bytes", "9", "kafka: confluent-kafka refuses a setting: "),
]


@pytest.mark.parametrize(("client", "name", "value", "said"), WRONG)
def test_a_setting_that_is_wrong(client: str, name: str, value: str, said: str) -> None:
    """It is refused without a broker."""
    with pytest.raises(ConfigError) as raised:
        KafkaSink("127.0.0.1:1/topic", SinkContext({"client": client, f"client.{name}": value}))
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)


def test_a_compression_without_the_package_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """kafka-python leaves lz4 and snappy to other packages: the error says what to install."""
    monkeypatch.setattr("kafka.codec.snappy", None)
    with pytest.raises(ConfigError) as raised:
        KafkaSink("127.0.0.1:1/topic", SinkContext({"compression": "snappy"}))
    install = "pip install 'kafka-python[lz4,snappy,zstd]'"
    assert str(raised.value) == f"kafka sink: compression=snappy needs another package: {install}"
