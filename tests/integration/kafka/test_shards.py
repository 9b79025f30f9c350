"""Shards over the partitions of a topic."""

import json
from pathlib import Path

import pytest

from connectors.kafka import KafkaSource
from streamlin.checkpoint.file import load
from streamlin.errors import ConnectorError
from streamlin.events import Share, SourceContext
from streamlin.sharding.plan_log import FILE
from tests.command_line import refused
from tests.integration.kafka.broker import add_partitions, create_topic, delete_topic, produce
from tests.integration.kafka.runs import url
from tests.integration.processes import finish, kill, start, streamlin, until
from tests.integration.streams import assert_same_state, json_lines, measured, real_events
from tests.locations import DATA

PARTITIONS = 4
SHARDS = ("--shards", 2, "--set", "mixing.floor=20", "--set", "checkpoint.every_events=1")


def send(broker, topic, events):
    """Partition 3 gets few events, and ends early."""
    numbers = [i % PARTITIONS if i < 200 else i % (PARTITIONS - 1) for i in range(len(events))]
    values = [(None, json.dumps(event).encode(), (), number) for event, number in zip(events, numbers, strict=True)]
    produce(broker.address, topic, values)


def arguments(folder: Path, source: str, *more: object) -> tuple[object, ...]:
    written = ("--predictions", folder / "out.jsonl", "--report", folder / "report.json")
    return ("run", source, *SHARDS, *written, "--checkpoint", folder / "state", *more)


@pytest.fixture
def events():
    return real_events(DATA / "trec-6.jsonl.gz", 800)


def assert_same(one: Path, other: Path) -> None:
    assert (one / "out.jsonl").read_bytes() == (other / "out.jsonl").read_bytes()
    assert measured(one / "report.json") == measured(other / "report.json")
    assert_same_state(one / "state", other / "state", places=False)


def test_a_topic_at_rest_gives_the_same_results_every_time(broker, topic, client, events, tmp_path):
    """In other batches, and after kills; two partitions are a shard's, one of them ends early."""
    name = topic(PARTITIONS)
    send(broker, name, events)
    source = url(broker.address, name, client, stop="end")
    folders = [tmp_path / folder for folder in ("first", "again", "killed")]
    for folder in folders:
        folder.mkdir()
    streamlin(*arguments(folders[0], source))
    streamlin(*arguments(folders[1], source, "--set", "pipeline.batch_size=7", "--set", "pipeline.threads=1"))
    assert_same(folders[0], folders[1])
    report = json.loads((folders[0] / "report.json").read_text())
    assert report["events"] == 800
    assert report["rounds"]["shards"] == 2
    plans = folders[2] / "state" / FILE
    for _ in range(2):
        before = plans.read_bytes() if plans.exists() else b""
        process = start(*arguments(folders[2], source))
        until(lambda: plans.exists() and plans.read_bytes() not in (b"", before), process)  # noqa: B023
        kill(process)
    streamlin(*arguments(folders[2], source))
    assert_same(folders[0], folders[2])


def test_a_live_topic_is_learned_as_it_comes_and_again_as_it_was_planned(broker, topic, client, events, tmp_path):
    """A round ends where the topic has nothing more; killed and resumed, what was planned is learned in the same
    rounds, and every event once."""
    name = topic(PARTITIONS)
    source, lines = url(broker.address, name, client), tmp_path / "out.jsonl"
    process = start(*arguments(tmp_path, source))
    for begin in (0, 30, 60):
        send(broker, name, events[begin : begin + 30])
        until(lambda: lines.exists() and lines.read_bytes().count(b"\n") >= begin + 30, process)  # noqa: B023
    kill(process)
    process = start(*arguments(tmp_path, source))
    send(broker, name, events[90:120])
    until(lambda: len(json_lines(lines)) >= 120, process)
    process.terminate()
    assert finish(process).code == 0
    assert sorted(line["id"] for line in json_lines(lines)) == sorted(event["id"] for event in events[:120])
    state = load(tmp_path / "state")[1]
    assert state["evaluation"]["events"] == 120
    assert state["rounds"]["number"] >= 4


def test_fewer_partitions_than_shards_are_refused(broker, topic, client):
    line = refused("run", url(broker.address, topic(2), client, stop="end"), "--shards", 3)
    assert line.endswith("use at most 2 shards")
    assert "mixing.shards: 3 shards can't share the 2 partitions" in line


def test_groups_and_transactions_are_refused(broker, topic, client, tmp_path):
    name = topic(2)
    line = refused("run", url(broker.address, name, client, group="g", assignment="group"), "--shards", 2)
    assert "shards need assignment=all" in line
    sink = url(broker.address, topic(), client, transactional="t", group="g")
    source = url(broker.address, name, client, group="g", stop="end")
    line = refused("run", source, "--shards", 2, "--predictions", sink, "--checkpoint", tmp_path)
    assert "mixing.shards: not together with transactional=" in line


def test_another_partition_or_a_topic_made_anew_is_refused(broker, topic, client, events, tmp_path):
    name = topic(2)
    produce(broker.address, name, [(None, json.dumps(e).encode(), (), i % 2) for i, e in enumerate(events[:100])])
    source = url(broker.address, name, client, stop="end")
    streamlin(*arguments(tmp_path, source))
    add_partitions(broker.address, name, 3)
    line = refused(*arguments(tmp_path, source), code=4)
    assert "has 3 partitions, but had 2 when the checkpoint was begun" in line
    delete_topic(broker.address, name)
    until(lambda: _created(broker, name))
    produce(broker.address, name, [(None, json.dumps(e).encode(), (), i % 2) for i, e in enumerate(events[:100])])
    line = refused(*arguments(tmp_path, source), code=3)
    assert f"topic '{name}' was deleted and created again" in line


def _created(broker, name):
    try:
        create_topic(broker.address, name, 2)
    except Exception:
        return False
    return True


def test_a_partition_that_no_shard_reads_ends_the_run(broker, topic, client):
    """As a source that reads a share of a topic finds it, when it looks for new ones."""
    name = topic(2)
    own = frozenset((f"{name}/0",))
    context = SourceContext({"client": client}, None, {}, False, 1000, print, share=Share(own, own))
    source = KafkaSource(f"{broker.address}/{name}", context)
    try:
        with pytest.raises(ConnectorError, match=f"partition {name}/1 was added, which no shard reads"):
            until(lambda: source.poll(10))
    finally:
        source.close()
