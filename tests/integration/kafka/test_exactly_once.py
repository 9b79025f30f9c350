"""Killed at any moment, a run over topics has learned every event once, as one that was never killed.

SOAK_KILLS and SOAK_EVENTS make it longer: `make soak`.
"""

import json
import os
import signal
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from connectors.kafka import KafkaSink
from deploy.kafka.broker import Broker
from streamlin.checkpoint.file import load
from streamlin.events import SinkContext
from tests.command_line import refused
from tests.integration.kafka.broker import committed, create_topic, produce, read_all
from tests.integration.kafka.clients import CLIENTS
from tests.integration.kafka.conftest import Topics
from tests.integration.kafka.killing import Killing, Processes
from tests.integration.processes import streamlin, together, until
from tests.integration.streams import assert_same_state, measured
from tests.naive_features import bucket

EVENTS = int(os.environ.get("SOAK_EVENTS", "4000"))
KILLS = int(os.environ.get("SOAK_KILLS", "0"))

PARTITIONS = 4
QUICK = ("--set", "features.words.ngrams=[1, 1]", "--learner", "naive_bayes")
ORDERED = (*QUICK, "--learner", "logistic_regression")
"""The second learner depends on the order of the events."""


class Stream(NamedTuple):
    """A topic, and the predictions, report and checkpoint of an uninterrupted run over it."""

    topic: str
    predictions: list[bytes]
    report: Path
    state: Path


def mixed(n: int) -> Iterable[bytes | None]:
    """Events of four labels, and every other kind of message."""
    for i in range(n):
        event: dict[str, Any] = {"id": f"e{i}", "text": f"word{i * i % 101} word{i % 7} word{i // 50}", "label": i % 4}
        if i % 13 == 5:
            del event["label"]
        if i % 31 == 7:
            del event["id"]
        if i % 97 == 11:
            yield None
        if i % 211 == 12:
            yield b"not JSON"
        yield json.dumps(event).encode()


@pytest.fixture(scope="module")
def stream(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Stream:
    """One partition, and a run that was never killed, of another client with larger batches."""
    for name in ("mixed", "mixed-reference"):
        create_topic(broker.address, name)
    produce(broker.address, "mixed", ((None, value) for value in mixed(EVENTS)))
    folder = tmp_path_factory.mktemp("never-killed")
    report, state = folder / "report.json", folder / "state"
    streamlin(
        *("run", f"kafka://{broker.address}/mixed?stop=end&client=confluent", *ORDERED),
        *("--predictions", f"kafka://{broker.address}/mixed-reference", "--checkpoint", state, "--report", report),
    )
    found = [record.value for record in read_all(broker.address, "mixed-reference") if record.value is not None]
    assert len(found) == EVENTS
    return Stream("mixed", found, report, state)


def test_killed_at_any_moment(stream: Stream, broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """One partition: weights, measures and positions are those of the run never killed, bit for bit.

    Each event has its prediction; where a kill made it come twice, both are the same to the byte.
    """

    def killed(client: str, output: str) -> None:
        folder, report = tmp_path / client, tmp_path / f"{client}.json"
        arguments = (
            *(f"kafka://{broker.address}/{stream.topic}?stop=end&client={client}", *ORDERED),
            *("--predictions", f"kafka://{broker.address}/{output}?client={client}"),
        )
        records = len(read_all(broker.address, stream.topic))
        Killing(arguments, folder, records, client).repeat(KILLS or 8)
        streamlin("run", *arguments, "--checkpoint", folder, "--report", report)
        assert measured(report) == measured(stream.report)
        assert_same_state(folder, stream.state)
        found = [record.value for record in read_all(broker.address, output)]
        assert len(found) > EVENTS, "no kill fell between a prediction and its checkpoint"
        assert set(found) == set(stream.predictions)

    together(*(partial(killed, client, topic()) for client in CLIENTS))


def test_a_checkpoint_has_where_reading_began(client: str, broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """Before the first event is learned; `start=latest` would begin somewhere else the next time."""
    read, output, old = topic(), topic(), 3
    source = f"kafka://{broker.address}/{read}?client={client}&start=latest"
    arguments = (*QUICK, "--predictions", f"kafka://{broker.address}/{output}", "--checkpoint", str(tmp_path / "state"))
    values = (json.dumps({"id": f"e{i}", "text": "a", "label": "x"}).encode() for i in count())
    produce(broker.address, read, ((None, value) for value in islice(values, old)))
    with Processes() as processes:
        processes.start("learn", "before", 1, "die", str(tmp_path / "said"), "run", source, *arguments)
        while not processes.says_something(0.1):
            produce(broker.address, read, [(None, next(values))])
        assert processes.code() == -signal.SIGKILL
    streamlin("run", f"{source}&stop=end", *arguments)
    found = [(record.key or b"").decode() for record in read_all(broker.address, output)]
    end = len(read_all(broker.address, read))
    assert 0 < len(found) <= end - old
    assert found == [f"e{i}" for i in range(end - len(found), end)]


@cache
def distinct_words(n: int) -> list[str]:
    """Words that share no bucket."""
    taken: dict[int, str] = {}
    words = (f"word{number}" for number in count())
    return list(islice((word for word in words if taken.setdefault(bucket(word, 20), word) == word), n))


@pytest.fixture(scope="module")
def words(broker: Broker) -> str:
    """A topic of several partitions; each event has a word of its own."""
    create_topic(broker.address, "words", PARTITIONS)
    events = (
        json.dumps({"id": word, "text": word, "label": "xy"[i % 2]}).encode()
        for i, word in enumerate(distinct_words(EVENTS))
    )
    produce(broker.address, "words", ((None, event, (), i // 7 % PARTITIONS) for i, event in enumerate(events)))
    return "words"


def assert_each_learned_once(state: Path) -> None:
    """Naive Bayes has counted every event's word once."""
    arrays, rest = load(state)
    counts = arrays["learners/naive_bayes/counts"]
    assert counts.shape[0] == EVENTS
    assert (counts.sum(axis=1) == 1).all()
    assert arrays["learners/naive_bayes/events"].sum() == EVENTS
    (places,) = rest["positions"].values()
    assert sum(place["offset"] for place in places.values()) == EVENTS
    assert rest["evaluation"]["events"] == EVENTS


@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_each_event_is_learned_once(
    transactional: bool, words: str, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Several partitions: every event is learned once and predicted; in transactions, it is predicted once too."""

    def killed(client: str, output: str) -> None:
        group, state = f"{output}-readers", tmp_path / client
        source = f"kafka://{broker.address}/{words}?stop=end&client={client}"
        sink = f"kafka://{broker.address}/{output}?client={client}"
        if transactional:
            source, sink = f"{source}&group={group}", f"{sink}&group={group}&transactional={output}"
        arguments = (source, *QUICK, "--predictions", sink)
        without = ["commit"] if transactional else []  # the transactions do it
        Killing(arguments, state, EVENTS, f"{client}{transactional}", without).repeat(KILLS or 6)
        streamlin("run", *arguments, "--checkpoint", state)
        assert_each_learned_once(state)
        times: dict[bytes | None, int] = defaultdict(int)
        for record in read_all(broker.address, output):
            times[record.key] += 1
        assert times.keys() == {word.encode() for word in distinct_words(EVENTS)}
        if transactional:
            assert max(times.values()) == 1
            until(lambda: sum(committed(broker.address, group, words).values()) == EVENTS)  # soon after its answer

    together(*(partial(killed, client, topic()) for client in CLIENTS))


def test_each_label_is_asked_for_once(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """Predictions and requests go to two topics, in transactions of two groups; both name the same events."""
    read = topic()
    events = (json.dumps({"id": f"e{i}", "text": f"word{i % 101} word{i % 7}"}).encode() for i in range(3000))
    produce(broker.address, read, ((None, event) for event in events))

    def killed(client: str, output: str, wanted: str) -> None:
        source = f"kafka://{broker.address}/{read}?stop=end&client={client}&group={output}"
        sinks = (
            f"kafka://{broker.address}/{to}?client={client}&group={to}&transactional={to}" for to in (output, wanted)
        )
        asking = ("--late-labels", "--set", "ask.budget=0.2")
        outputs = chain(*zip(("--predictions", "--labels-wanted"), sinks, strict=True))
        arguments, state = (source, *QUICK, *asking, *outputs), tmp_path / client
        Killing(arguments, state, 3000, client, ["commit"]).repeat(KILLS or 4)
        streamlin("run", *arguments, "--checkpoint", state)
        lines = [json.loads(record.value or b"") for record in read_all(broker.address, output)]
        asked = [json.loads(record.value or b"")["id"] for record in read_all(broker.address, wanted)]
        assert [line["id"] for line in lines] == [f"e{i}" for i in range(3000)]
        assert asked == [line["id"] for line in lines if line["asked"]]
        assert len(asked) > 500

    together(*(partial(killed, client, topic(), topic()) for client in CLIENTS))


def test_offsets_of_transactions_never_go_back(client: str, broker: Broker, topic: Topics) -> None:
    """After a crash reading goes back to the checkpoint, but the lines that were sent stay sent."""
    read, output = topic(), topic()
    options = {"client": client, "group": output, "transactional": output}
    for before, offset, after in [({}, 10, 10), ({0: 10}, 5, 10), ({0: 10}, 12, 12)]:
        sink = KafkaSink(f"{broker.address}/{output}", SinkContext(options))
        assert sink.written() == {f"{read}/{part}": sent for part, sent in before.items()}
        sink.sync_with({f"{read}/0": {"offset": offset}})
        sink.close()
        until(lambda after=after: committed(broker.address, output, read) == {0: after})


def test_transactions_and_shared_partitions(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """Offsets are committed before the checkpoint is written: after a crash a group would skip events."""
    source = f"kafka://{broker.address}/{topic()}?group=g&assignment=group"
    sink = f"kafka://{broker.address}/{topic()}?group=g&transactional=t"
    line = refused("run", source, "--predictions", sink, "--checkpoint", tmp_path)
    assert line == "kafka: transactional= needs assignment=all"
