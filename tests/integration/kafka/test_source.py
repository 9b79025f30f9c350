"""Topics as a source: where reading begins and ends, and which messages are read."""

import os
import re
import signal
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka import TopicPartition as GroupPosition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

import connectors.kafka.source
from connectors.kafka.source import KafkaSource
from deploy.kafka.broker import Broker
from streamlin.checkpoint.file import load
from streamlin.errors import ConfigError, ConnectorError
from streamlin.testing import check_source
from tests.command_line import refused
from tests.integration.kafka.broker import PATIENCE, add_partitions, create_topic, delete_records, produce, read_all
from tests.integration.kafka.conftest import Topics
from tests.integration.kafka.polling import (
    Transactions,
    awaited,
    opened,
    polled,
    positions,
    produce_at,
    values,
)
from tests.integration.kafka.readers import kafka
from tests.integration.kafka.runs import QUICK, ran, url
from tests.integration.processes import finish, refused_by_process, start, together, until

PAYLOADS = [b"%d" % i for i in range(10)]


@pytest.fixture(scope="module")
def ten(broker: Broker) -> str:
    """A topic with ten messages in several batches."""
    create_topic(broker.address, "ten")
    for begin in (0, 4, 5):
        end = {0: 4, 4: 5, 5: 10}[begin]
        produce(broker.address, "ten", [(None, value) for value in PAYLOADS[begin:end]])
    return "ten"


def commit(broker: Broker, group: str, topic: str, offset: int) -> None:
    """For a group without members."""
    admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0})
    offsets = ConsumerGroupTopicPartitions(group, [GroupPosition(topic, 0, offset)])
    admin.alter_consumer_group_offsets([offsets], request_timeout=PATIENCE)[group].result(PATIENCE)


def await_begin(source: KafkaSource) -> None:
    """Poll a source, whose topic may be empty, until it knows where it begins."""
    deadline = time.monotonic() + PATIENCE
    while not source.extent():
        assert time.monotonic() < deadline
        assert values(source.poll(1) or []) == []


def test_the_contract_of_sources(broker: Broker, topic: Topics, client: str) -> None:
    """Polls of 1, 7 and 1000 give the same; every position resumes correctly, also in the middle of a batch."""
    name, payloads = topic(), [b"%d" % i for i in range(120)]
    for begin in range(0, 120, 40):
        produce(broker.address, name, [(None, value) for value in payloads[begin : begin + 40]])
    check_source(lambda known: opened(broker.address, name, known, client=client, stop="end"), payloads)


@pytest.mark.parametrize(
    ("start", "expected"), [("earliest", 0), ("latest", 10), ("0", 0), ("4", 4), ("7", 7), ("10", 10)]
)
def test_where_it_begins(broker: Broker, ten: str, client: str, start: str, expected: int) -> None:
    found = polled(opened(broker.address, ten, client=client, stop="end", start=start))
    assert values(found) == PAYLOADS[expected:]


@pytest.mark.parametrize(
    ("start", "expected"),
    [("2024-05-01T12:00:00Z", 0), ("2024-05-01T12:00:00.001Z", 1), ("2024-05-02", 2), ("2024-05-04", 3)],
)
def test_it_begins_at_a_time(broker: Broker, topic: Topics, client: str, start: str, expected: int) -> None:
    """At the first message from that time on, otherwise at the end."""
    name, noon = topic(), 1_714_564_800_000
    produce_at(broker.address, name, [(noon, b"0"), (noon + 1, b"1"), (noon + 86_400_000, b"2")])
    found = polled(opened(broker.address, name, client=client, stop="end", start=start))
    assert values(found) == PAYLOADS[expected:3]


@pytest.mark.parametrize(("start", "extent"), [("11", "0 to 10"), ("99999999999999999999", "0 to 10")])
def test_an_offset_after_the_end_is_an_error(broker: Broker, ten: str, client: str, start: str, extent: str) -> None:
    source = opened(broker.address, ten, client=client, stop="end", start=start)
    with pytest.raises(ConnectorError, match=f"^start={start}: {ten}/0 has offsets {extent}$"):
        polled(source)


def test_an_offset_that_is_gone(broker: Broker, topic: Topics, client: str) -> None:
    """The error says how many messages are gone; on_gap=continue reads the rest."""
    name = topic()
    produce(broker.address, name, [(None, value) for value in PAYLOADS])
    delete_records(broker.address, name, {0: 6})
    said = f"{name}/0: 4 records from offset 2 on are gone, the oldest one left is 6"
    with pytest.raises(ConnectorError, match=f"^{said}; on_gap=continue continues without them$"):
        polled(opened(broker.address, name, client=client, stop="end", start="2"))
    notices: list[str] = []
    options = {"client": client, "stop": "end", "on_gap": "continue"}
    found = polled(opened(broker.address, name, {f"{name}/0": {"offset": 2}}, notices.append, **options))
    assert values(found) == PAYLOADS[6:]
    assert (sum(records.lost for records in found), notices) == (4, [said])


def test_a_checkpoints_position_comes_before_the_groups_offset(broker: Broker, ten: str, client: str) -> None:
    """Even if the group is further; the group's offset comes before `start`."""
    group = f"readers-{client}"
    commit(broker, group, ten, 6)
    options = {"client": client, "stop": "end", "start": "latest", "group": group}
    for offset in (3, 8):
        assert (
            values(polled(opened(broker.address, ten, {f"{ten}/0": {"offset": offset}}, **options)))
            == PAYLOADS[offset:]
        )
    assert values(polled(opened(broker.address, ten, **options))) == PAYLOADS[6:]
    assert values(polled(opened(broker.address, ten, **options | {"group": f"others-{client}"}))) == []


def test_it_ends_where_the_topic_ended_at_the_start(broker: Broker, topic: Topics, client: str) -> None:
    """Later messages are left for the next run, even within a batch, so that several runs see the same."""
    name = topic(2)
    produce(broker.address, name, [(None, value, (), i % 2) for i, value in enumerate(PAYLOADS[:4])])
    source = opened(broker.address, name, client=client, stop="end")
    await_begin(source)
    produce(broker.address, name, [(None, value, (), 0) for value in PAYLOADS[4:]])
    found = polled(source)
    assert sorted(values(found)) == PAYLOADS[:4]
    later = polled(opened(broker.address, name, positions(found), client=client, stop="end"))
    assert values(later) == PAYLOADS[4:]


def test_an_empty_topic_ends_at_once(broker: Broker, topic: Topics, client: str) -> None:
    """It still reports where it would have begun."""
    name = topic(2)
    found = polled(opened(broker.address, name, client=client, stop="end"))
    assert values(found) == []
    assert {part: position["offset"] for part, position in positions(found).items()} == {f"{name}/0": 0, f"{name}/1": 0}


# Transactions, and what else leaves gaps.


def test_only_committed_transactions_are_read(broker: Broker, topic: Topics, client: str) -> None:
    """Aborted transactions and markers are skipped everywhere; an open transaction is not waited for."""
    name = topic()
    transactions = Transactions(broker.address, name)
    transactions.abort(b"x", b"x")
    transactions.commit(b"1", b"2")
    produce(broker.address, name, [(None, b"3")])
    transactions.abort(b"x")
    transactions.commit(b"4")
    transactions.begin(b"x")
    produce(broker.address, name, [(None, b"x")])  # behind it: nobody sees it before the transaction ends
    check_source(lambda known: opened(broker.address, name, known, client=client, stop="end"), [b"1", b"2", b"3", b"4"])


def test_stop_before_an_open_transaction(broker: Broker, topic: Topics, tmp_path: Path, client: str) -> None:
    """A line says what is not read; the lag counts what can be read. Both clients say the same."""
    name, state = topic(), tmp_path / "state"
    produce(broker.address, name, events(0, 5))
    transactions = Transactions(broker.address, name)
    transactions.begin(*(value for _, value in events(5, 9)))
    produce(broker.address, name, events(9, 12))
    source = url(broker.address, name, client, stop="end")
    for _ in range(2):  # resumed, there is nothing to read
        report, done = ran(tmp_path, source, "--checkpoint", state)
        assert (report["events"], report["lag"]) == (5, {f"{name}/0": 0})
        said = f"streamlin: {name}/0: offsets 5 to 12 are behind an open transaction; stop=end ends before them"
        assert [line for line in done.err.splitlines() if "transaction" in line] == [said]
    transactions.end()
    report, done = ran(tmp_path, source, "--checkpoint", state)
    assert (report["events"], report["lag"], "transaction" in done.err) == (12, {f"{name}/0": 0}, False)


def test_a_transaction_that_stays_open_is_said_once(broker: Broker, topic: Topics, client: str) -> None:
    """Live: what is behind it does not count as lag, and is read when it has ended."""
    name = topic()
    produce(broker.address, name, [(None, value) for value in PAYLOADS[:3]])
    notices: list[str] = []
    with closing(opened(broker.address, name, notice=notices.append, client=client)) as source:
        assert values(awaited(source, 3)) == PAYLOADS[:3]
        transactions = Transactions(broker.address, name)
        transactions.begin(b"3")
        produce(broker.address, name, [(None, b"4")])
        until(lambda: source.poll(10) or notices)
        assert source.extent() == {f"{name}/0": (0, 3)}
        transactions.end()
        assert values(awaited(source, 2)) == [b"3", b"4"]
    held = "what follows offset 3 is behind a transaction that stays open; it is read once that has ended"
    assert notices == [f"{name}/0: {held}"]


@pytest.mark.parametrize("end", ["commit", "abort"])
def test_the_end_may_be_a_marker(broker: Broker, topic: Topics, client: str, end: str) -> None:
    """Of a committed or an aborted transaction: the source still comes to its end."""
    name = topic()
    transactions = Transactions(broker.address, name)
    transactions.commit(b"1")
    getattr(transactions, end)(b"2")
    found = polled(opened(broker.address, name, client=client, stop="end"))
    assert values(found) == [b"1", b"2"][: 2 if end == "commit" else 1]
    assert values(polled(opened(broker.address, name, positions(found), client=client, stop="end"))) == []


def test_nothing_but_aborted_transactions(broker: Broker, topic: Topics, client: str) -> None:
    name = topic()
    transactions = Transactions(broker.address, name)
    for _ in range(3):
        transactions.abort(b"x", b"y")
    assert values(polled(opened(broker.address, name, client=client, stop="end"))) == []


@pytest.fixture(scope="module")
def compacted(broker: Broker) -> dict[int, bytes]:
    """A topic `compacted` of which compaction has left these, by offset; from batches of four, some whole, some not."""
    admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0})
    often = ConfigEntry("log.cleaner.backoff.ms", "100", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.BROKER, "1", incremental_configs=[often])
    admin.incremental_alter_configs([resource])[resource].result(PATIENCE)
    config = {"cleanup.policy": "compact", "segment.ms": "50", "min.cleanable.dirty.ratio": "0.01"}
    create_topic(broker.address, "compacted", 1, config)
    keys = [*b"abcd", *b"abxd", *b"abcy", *b"abcd", *b"ezzz"]
    for begin in range(0, 20, 4):
        produce(broker.address, "compacted", [(b"%c" % keys[i], b"%d" % i) for i in range(begin, begin + 4)])
    left, found = [6, 11, 12, 13, 14, 15, 16], read_all(broker.address, "compacted")
    deadline = time.monotonic() + PATIENCE
    # Its last segment is not compacted: a message closes it and is in the next. Of all those one more may be left.
    while [one.offset for one in found if one.offset <= 16] != left or len(found) > len(left) + 2:
        assert time.monotonic() < deadline, f"compaction has left {found}"
        produce(broker.address, "compacted", [(b"z", b"last")])
        time.sleep(0.5)
        found = read_all(broker.address, "compacted")
    return {one.offset: one.value or b"" for one in found}


def test_a_compacted_topic(broker: Broker, compacted: dict[int, bytes], client: str) -> None:
    """Whole batches, their beginnings or their ends are missing. A resume may begin in any of these gaps."""
    offsets, payloads = list(compacted), list(compacted.values())
    check_source(lambda known: opened(broker.address, "compacted", known, client=client, stop="end"), payloads)
    for begin in (3, 6, 7, 9, 12, 16):
        found = polled(opened(broker.address, "compacted", client=client, stop="end", start=str(begin)))
        read = [int(offset) for records in found for offset in records.offsets]
        assert read == [offset for offset in offsets if offset >= begin]


# Partitions and topics.


def test_several_topics_with_several_partitions(broker: Broker, topic: Topics, client: str) -> None:
    """Each partition in its order; each is a part with a position of its own."""
    names = [topic(3), topic(2)]
    for number, name in enumerate(names):
        messages = [(None, b"%d-%d" % (number, i), (), i % (3 - number)) for i in range(300)]
        produce(broker.address, name, messages)
    found = polled(opened(broker.address, ",".join(names), client=client, stop="end"), 7)
    parts: dict[str, list[bytes]] = {}
    for records in found:
        parts.setdefault(records.key, []).extend(values([records]))
    assert parts == {
        f"{name}/{part}": [b"%d-%d" % (number, i) for i in range(300) if i % (3 - number) == part]
        for number, name in enumerate(names)
        for part in range(3 - number)
    }
    ends = {part: len(messages) for part, messages in parts.items()}
    assert {part: position["offset"] for part, position in positions(found).items()} == ends


def test_one_more_topic_leaves_the_others_where_they_are(broker: Broker, topic: Topics, ten: str, client: str) -> None:
    """A checkpoint names a source by its brokers, not by its topics."""
    name = topic()
    produce(broker.address, name, [(None, b"new")])
    assert KafkaSource.key(f"{broker.address}/{ten}") == KafkaSource.key(f"{broker.address}/{name},{ten}")
    known = {f"{ten}/0": {"offset": 8}}
    found = polled(opened(broker.address, f"{name},{ten}", known, client=client, stop="end"))
    assert sorted(values(found)) == [b"8", b"9", b"new"]


def test_partitions_that_are_new_are_read_from_their_beginning(
    broker: Broker, topic: Topics, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even with start=latest: all their messages came while the topic was read. The others continue."""
    monkeypatch.setattr(connectors.kafka.source, "_NEW_PARTITIONS_EVERY", 0.1)
    name = topic()
    produce(broker.address, name, [(None, b"old")])
    quicker = {"client_metadata_max_age_ms": "200"} if client == "kafka-python" else {}
    source = opened(broker.address, name, client=client, start="latest", **quicker)
    await_begin(source)
    produce(broker.address, name, [(None, b"1")])
    assert values(awaited(source, 1)) == [b"1"]
    add_partitions(broker.address, name, 3)
    produce(broker.address, name, [(None, b"2", (), 2), (None, b"3", (), 0), (None, b"4", (), 1)])
    found = awaited(source, 3)
    source.close()
    assert sorted(values(found)) == [b"2", b"3", b"4"]
    assert {records.name(0): records[0] for records in found if len(records)} == {
        f"{name}/0/2": b"3",
        f"{name}/1/0": b"4",
        f"{name}/2/0": b"2",
    }


# What is in the batches.


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_compressed_batches(broker: Broker, topic: Topics, client: str, compression: str) -> None:
    """Also batches that are many times larger decompressed."""
    name = topic(config={"max.message.bytes": "5000000"})
    payloads = [b"%d " % i + b"words " * 200 for i in range(3000)]
    sizes = {"batch_size": 4_000_000, "message_max_bytes": 4_000_000, "linger_ms": 50}
    produce(broker.address, name, [(None, value) for value in payloads], compression_type=compression, **sizes)
    assert values(polled(opened(broker.address, name, client=client, stop="end"))) == payloads


def test_compressed_batches_without_the_package_for_it(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """kafka-python leaves lz4 and snappy to other packages: the error says what to install."""
    name = topic()
    produce(broker.address, name, events(0, 10), compression_type="lz4")
    (tmp_path / "lz4.py").write_text("raise ImportError")
    env = {"PYTHONPATH": str(tmp_path)}
    source = url(broker.address, name, "kafka-python", stop="end")
    said = refused_by_process("run", source, *QUICK, code=3, env=env)
    install = "pip install 'kafka-python[lz4,snappy,zstd]'"
    assert said == f"messages are compressed: Libraries for lz4 compression codec not found: {install}"


def test_the_brokers_time(broker: Broker, topic: Topics, client: str) -> None:
    """A topic may be configured to have the time of writing in place of the messages' own."""
    begin = time.time()
    name = topic(config={"message.timestamp.type": "LogAppendTime"})
    produce_at(broker.address, name, [(1000, b"1"), (2000, b"2")])
    times: list[float] = []
    for records in polled(opened(broker.address, name, client=client, stop="end")):
        found = records.envelope("timestamp", np.arange(len(records)))
        assert found is not None
        times += found
    assert len(times) == 2
    assert all(begin - 1 <= moment <= time.time() + 1 for moment in times)


def test_a_message_of_900_kb(broker: Broker, topic: Topics, client: str) -> None:
    """Among small ones, and with a fetch that is smaller than it."""
    name, large = topic(), b"x" * 900_000
    produce(broker.address, name, [(None, b"1"), (None, large), (None, b"2")])
    for sizes in ({}, {"max_partition_fetch_bytes": "1000", "fetch_max_bytes": "1000"}):
        assert values(polled(opened(broker.address, name, client=client, stop="end", **sizes))) == [b"1", large, b"2"]


class NoText(str):
    """A header's name that kafka-python sends as bytes that are not UTF-8."""

    def encode(self, *_: str) -> bytes:
        return b"\xff\xfe"


def test_a_header_whose_name_is_not_utf8(broker: Broker, topic: Topics, client: str) -> None:
    """confluent-kafka reads the message without its headers; kafka-python can't, and names the client that can."""
    name = topic()
    with closing(kafka.KafkaProducer(bootstrap_servers=broker.address)) as producer:
        producer.send(name, b"1", headers=[(NoText("?"), b"x"), ("h", b"1")])
        producer.send(name, b"2", headers=[("h", b"2")])
        producer.flush()
    source = opened(broker.address, name, client=client, stop="end")
    if client == "kafka-python":
        with pytest.raises(ConnectorError, match="not UTF-8, which kafka-python can't read; client=confluent can"):
            polled(source)
        return
    headers = [list(records.raw(i)[2]) for records in polled(source) for i in range(len(records))]
    assert headers == [[], [("h", b"2")]]


WRONG = [
    ("kafka-python", "enable_auto_commit", "true", "kafka: client.enable_auto_commit can't be set: "),
    ("kafka-python", "auto_offset_reset", "latest", "kafka: client.auto_offset_reset can't be set: "),
    ("kafka-python", "fetch_min_bytes", "few", "kafka: client.fetch_min_bytes=few: expected a number"),
    ("confluent", "enable.auto.commit", "true", "kafka: client.enable.auto.commit can't be set: "),
    ("confluent", "auto.offset.reset", "latest", "kafka: client.auto.offset.reset can't be set: "),
    (
        "confluent",
        "fetch.min.bytes",
        "few",
        "kafka: confluent-kafka refuses a setting: Invalid value for",
    ),
]


@pytest.mark.parametrize(("client", "name", "value", "said"), WRONG)
def test_a_setting_that_is_wrong(client: str, name: str, value: str, said: str) -> None:
    """It is refused without a broker; above all, automatic commits are."""
    source = opened("127.0.0.1:1", "topic", client=client, **{f"client_{name}": value})
    with pytest.raises(ConfigError) as raised:
        source.poll(1)
    source.close()
    assert str(raised.value).startswith(said)


# Whole runs.


def test_a_wrong_setting_is_one_line_and_exit_code_2(client: str) -> None:
    name = {"kafka-python": "client.enable_auto_commit", "confluent": "client.enable.auto.commit"}[client]
    said = refused("run", url("127.0.0.1:1", "topic", client, **{name: "true"}), *QUICK)
    assert said == f"kafka: {name} can't be set: streamlin sets it, by its own options and [kafka]"


def test_a_secret_in_a_url_is_not_shown() -> None:
    """In the URL of a source or of a sink, in any part of it."""
    secret, option = "kafka://alice:hunter2@127.0.0.1:1/t", "kafka://127.0.0.1:1/t?client.sasl_plain_password=hunter2"
    said = refused("run", secret), refused("run", os.devnull, "--predictions", option)
    assert "hunter2" not in "".join(said)


def committed(broker: Broker, group: str, topic: str) -> tuple[int, str] | None:
    """Of partition 0: the offset that a group has committed, and its metadata.

    Asked by kafka-python: confluent-kafka reads on behind the text, having written a NUL there when it committed.
    """
    with closing(kafka.KafkaConsumer(bootstrap_servers=broker.address, group_id=group)) as consumer:
        found = consumer.committed(kafka.TopicPartition(topic, 0), metadata=True)
    return None if found is None else (found.offset, found.metadata.rstrip("\0"))


def events(begin: int, end: int) -> list[tuple[None, bytes]]:
    return [(None, b'{"text": "word%d", "label": "%d"}' % (i % 7, i % 3)) for i in range(begin, end)]


def test_what_is_committed_is_a_checkpoint_and_names_it(
    broker: Broker, topic: Topics, tmp_path: Path, client: str
) -> None:
    """While running, and at the end; nothing else commits."""
    name, state, group = topic(), tmp_path / "state", f"named-{client}"
    produce(broker.address, name, events(0, 100))
    source = url(broker.address, name, client, group=group)
    running = start("run", source, *QUICK, "--checkpoint", state, "--set", "checkpoint.every_seconds=0.1")
    until(lambda: (committed(broker, group, name) or (0, ""))[0] == 100, running)
    produce(broker.address, name, events(100, 110))
    running.send_signal(signal.SIGTERM)
    assert finish(running).code == 0
    offset, number = last_checkpoint(state, name)
    assert offset in (100, 110)
    assert committed(broker, group, name) == (offset, number)

    report, _ = ran(tmp_path, f"{source}&stop=end", "--checkpoint", state)
    assert report["events"] == 110
    assert committed(broker, group, name) == last_checkpoint(state, name)


def last_checkpoint(state: Path, topic: str) -> tuple[int, str]:
    """Where partition 0 resumes, and the checkpoint's number."""
    _, found = load(state)
    [positions] = found["positions"].values()
    return positions[f"{topic}/0"]["offset"], str(found["number"])


def test_the_report_has_the_lag(broker: Broker, topic: Topics, tmp_path: Path, client: str) -> None:
    """By partition; markers of transactions do not count."""
    name = topic(2)
    transactions = Transactions(broker.address, name)
    transactions.commit(*(value for _, value in events(0, 10)))
    produce(broker.address, name, [(None, value, (), 1) for _, value in events(0, 10)])
    source = url(broker.address, name, client, stop="end")
    report, _ = ran(tmp_path, source, "--limit", 12, "--set", "pipeline.batch_size=1")
    assert sum(report["lag"].values()) in (8, 9)  # a marker behind the transaction may count until it is passed
    report, done = ran(tmp_path, source)
    assert report["lag"] == {f"{name}/0": 0, f"{name}/1": 0}
    assert " · lag 0 · " in done.out


def test_progress_lines_have_the_lag(broker: Broker, topic: Topics) -> None:
    """Every five seconds."""
    name = topic()
    produce(broker.address, name, events(0, 1000))

    def told(client: str) -> None:
        running = start("run", url(broker.address, name, client, rate=1), *QUICK, "--set", "pipeline.batch_size=1")
        assert running.stderr is not None
        line = next(line for line in running.stderr if b" events " in line).decode()
        found = re.fullmatch(r"streamlin: (\d+) events · \d labels? · 0 dead letters · lag (\d+) · .*\n", line)
        assert found is not None, line
        assert int(found[1]) == 1000 - int(found[2]) > 0
        running.send_signal(signal.SIGTERM)
        finish(running)

    together(lambda: told("kafka-python"), lambda: told("confluent"))
