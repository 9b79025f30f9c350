"""Faults of topics and disks: a run loses no event and no position, and reports each of them clearly."""

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from deploy.kafka.broker import Broker
from streamlin.checkpoint.file import load
from tests.integration.kafka.broker import (
    PATIENCE,
    committed,
    create_topic,
    delete_records,
    delete_topic,
    produce,
    read_all,
)
from tests.integration.kafka.clients import CLIENTS, with_both
from tests.integration.kafka.conftest import Topics
from tests.integration.processes import (
    Done,
    finish,
    refused_by_process,
    start,
    streamlin,
    until,
    with_small_files,
)
from tests.integration.streams import assert_same_state, measured

PROGRESS = re.compile(r"streamlin: [\d,]+ events? · ")
QUICK = ("--set", "features.words.ngrams=[1, 1]", "--learner", "naive_bayes")


def notices(done: Done) -> list[str]:
    """The lines on standard error, without those of progress."""
    return [line for line in done.err.splitlines() if not PROGRESS.match(line)]


def good(i: int) -> bytes:
    """An event."""
    return json.dumps({"id": f"e{i}", "text": f"word{i} word{i % 7}", "label": "xy"[i % 2]}).encode()


class Run:
    """A run over a topic, with a folder of its own, and topics for predictions and dead letters."""

    def __init__(self, broker: Broker, client: str, topic: str, topics: Topics, folder: Path) -> None:
        self.broker, self.client, self.topic = broker, client, topic
        self.predictions, self.dead_letters = topics(), topics()
        self.state, self.report = folder / client, folder / f"{client}.json"

    def arguments(self, options: str, *more: object) -> tuple[object, ...]:
        address, client = self.broker.address, self.client
        return (
            *("run", f"kafka://{address}/{self.topic}?client={client}{options}", *QUICK, "--checkpoint", self.state),
            *("--predictions", f"kafka://{address}/{self.predictions}?client={client}", "--report", self.report),
            *("--dead-letters", f"kafka://{address}/{self.dead_letters}?client={client}", *more),
        )

    def to_the_end(self, *more: object, options: str = "", **how: Any) -> Done:
        """Read what is in the topic now."""
        return streamlin(*self.arguments(f"&stop=end{options}", *more), **how)

    def refused(self, *more: object, options: str = "") -> str:
        """The same, which must end with exit code 3 and one line."""
        return refused_by_process(*self.arguments(f"&stop=end{options}", *more), code=3)

    def predicted(self) -> list[str]:
        """Ids."""
        return [(found.key or b"").decode() for found in read_all(self.broker.address, self.predictions)]

    def offset(self) -> int:
        """Where reading resumes in partition 0, from the checkpoint."""
        _, state = load(self.state)
        (places,) = state["positions"].values()
        return int(places[f"{self.topic}/0"]["offset"])


def ids(*numbers: int) -> list[str]:
    return [f"e{i}" for i in numbers]


def test_unreadable_messages_become_dead_letters(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """At the start and in the middle of a topic; dead letters are whole, with headers; all else is predicted."""
    poison = {0: b"\xff\x00", 3: b"", 4: b'{"text": 1}'}
    read = topic()
    records = [(b"k%d" % i, poison.get(i, good(i)), [("from", b"test"), ("empty", None)]) for i in range(7)]
    produce(broker.address, read, records)

    def check(client: str) -> None:
        run = Run(broker, client, read, topic, tmp_path)
        run.to_the_end()
        assert run.predicted() == ids(1, 2, 5, 6)
        assert measured(run.report)["dead_letters"] == len(poison)
        found = read_all(broker.address, run.dead_letters)
        assert [(dead.key, dead.value) for dead in found] == [(b"k%d" % i, value) for i, value in poison.items()]
        for dead, offset in zip(found, poison, strict=True):
            headers = dict(dead.headers)
            assert headers.pop("streamlin.error")
            assert headers.pop("from") == b"test"
            assert not headers.pop("empty")
            assert headers == {
                "streamlin.position": f"{read}/0/{offset}".encode(),
                "streamlin.topic": read.encode(),
                "streamlin.partition": b"0",
                "streamlin.offset": b"%d" % offset,
            }

    with_both(check)


def test_a_thousand_unreadable_messages_in_a_row_end_the_run(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """The checkpoint has what came before; with a higher limit the run continues."""
    read = topic()
    produce(broker.address, read, [(None, good(i) if i < 5 or i >= 1005 else b"poison") for i in range(1010)])

    (tmp_path / "patient").mkdir()
    patient = Run(broker, CLIENTS[0], read, topic, tmp_path / "patient")
    patient.to_the_end("--set", "pipeline.max_consecutive_dead_letters=1001")

    def check(client: str) -> None:
        run = Run(broker, client, read, topic, tmp_path)
        *_, last = run.to_the_end(code=3).err.splitlines()
        line = last.removeprefix("streamlin: ")
        assert line.startswith(f"1000 records in a row could not be read, the last at {read}/0/1004: not JSON")
        assert (run.predicted(), run.offset()) == (ids(*range(5)), 1005)
        run.to_the_end()
        assert measured(run.report) == measured(patient.report)
        assert_same_state(run.state, patient.state)
        assert run.predicted() == patient.predicted() == ids(*range(5), *range(1005, 1010))
        for each in run, patient:
            assert [found.value for found in read_all(broker.address, each.dead_letters)] == [b"poison"] * 1000

    with_both(check)


def test_large_messages(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """Of 900 KB, as an event and as a dead letter: both arrive whole."""
    read = topic()
    words = " ".join(f"w{i}" for i in range(130_000))[:900_000]
    poison = b"{" + b"x" * 900_000
    large = json.dumps({"id": "e1", "text": words, "label": "x"}).encode()
    produce(broker.address, read, [(None, value) for value in (good(0), large, poison, good(3))])

    def check(client: str) -> None:
        run = Run(broker, client, read, topic, tmp_path)
        run.to_the_end()
        assert run.predicted() == ids(0, 1, 3)
        assert [found.value for found in read_all(broker.address, run.dead_letters)] == [poison]

    with_both(check)


def test_tombstones_are_counted_and_skipped(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """They are neither events nor dead letters."""
    read = topic(config={"cleanup.policy": "compact"})
    produce(broker.address, read, [(b"k", None)] * 5)

    def check(client: str) -> None:
        run = Run(broker, client, read, topic, tmp_path)
        run.to_the_end()
        report = measured(run.report)
        assert (report["events"], report["dead_letters"], report["tombstones"]) == (0, 0, 5)
        assert (run.predicted(), run.offset()) == ([], 5)

    with_both(check)


def test_an_empty_topic(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """With `stop=end` a run ends at once. Otherwise it waits for events without a limit, until SIGTERM: it writes the
    checkpoint and commits the offsets."""

    def check(client: str) -> None:
        run = Run(broker, client, topic(), topic, tmp_path)
        assert run.to_the_end().out.startswith("0 events")
        process = start(*run.arguments(f"&group={run.topic}"))
        for i in range(2):
            time.sleep(3 * i)  # longer than a source without news waits until it looks after the broker
            produce(broker.address, run.topic, [(None, good(i))])
            until(lambda i=i: run.predicted() == ids(*range(i + 1)), process)
        process.send_signal(signal.SIGTERM)
        done = finish(process)
        assert (done.code, notices(done)) == (0, [])
        assert run.offset() == 2
        assert committed(broker.address, run.topic, run.topic) == {0: 2}

    with_both(check)


def test_a_run_waits_for_a_missing_topic(broker: Broker, tmp_path: Path, topic: Topics) -> None:
    """A run waits for it: for kafka.connect_timeout, or for ever; asking for the topic does not create it."""
    soon, late, never = topic(), topic(), "never"
    for name in soon, late:
        delete_topic(broker.address, name)

    def check(client: str) -> None:
        briefly = ("--set", "kafka.connect_timeout=1")
        runs = [Run(broker, client, name, topic, tmp_path / name) for name in (soon, late, never)]
        for run in runs:
            run.state.parent.mkdir(exist_ok=True)
        processes = [
            start(*runs[0].arguments("&wait_for_topic=false", "--limit", 3)),
            start(*runs[1].arguments("&wait_for_topic=true", "--limit", 3, *briefly)),
        ]
        notice, line = notices(runs[2].to_the_end(*briefly, code=3))
        assert notice.startswith("streamlin: topic 'never' does not exist yet; waiting for it for 1 s")
        assert line == "streamlin: topic 'never' does not exist; wait_for_topic=true waits for it without a limit"
        made.append(client)
        until(lambda: len(made) == len(CLIENTS))
        if client == CLIENTS[0]:
            for name in soon, late:
                create_topic(broker.address, name)
                produce(broker.address, name, [(None, good(i)) for i in range(3)])
        for process, run in zip(processes, runs, strict=False):
            done = finish(process)
            assert done.code == 0, done
            (notice,) = notices(done)
            assert f"topic '{run.topic}' does not exist yet; waiting for it" in notice
            assert run.predicted() == ids(0, 1, 2)

    made: list[str] = []
    with_both(check)


def test_records_deleted_between_runs_are_reported(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """The error says how many records are gone; with on_gap=continue they are counted as lost."""
    reads = {client: topic() for client in CLIENTS}

    def check(client: str) -> None:
        run = Run(broker, client, reads[client], topic, tmp_path)
        produce(broker.address, run.topic, [(None, good(i)) for i in range(10)])
        run.to_the_end("--limit", 4)
        delete_records(broker.address, run.topic, {0: 7})
        assert run.refused() == (
            f"{run.topic}/0: 3 records from offset 4 on are gone, the oldest one left is 7; "
            "on_gap=continue continues without them"
        )
        assert run.offset() == 4
        run.to_the_end(options="&on_gap=continue")
        report = measured(run.report)
        assert (report["events"], report["lost"]) == (7, 3)
        assert run.predicted() == ids(0, 1, 2, 3, 7, 8, 9)

    with_both(check)


SLOW = "&rate=100&max_partition_fetch_bytes=1"
"""Little is fetched ahead."""
OWN = {"kafka-python": "", "confluent": "&client.queued.min.messages=1&client.fetch.queue.backoff.ms=1"}


def test_records_deleted_during_a_run_are_reported(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """As between runs; the checkpoint has everything that was read before."""
    n, left = 1000, 5
    reads = {client: topic() for client in CLIENTS}

    def check(client: str) -> None:
        produce(broker.address, reads[client], [(None, good(i)) for i in range(n)], batch_num_messages=1)
        strict, lenient = (Run(broker, client, reads[client], topic, tmp_path / name) for name in "sl")
        batches = ("--set", "pipeline.batch_size=10")
        options = f"&stop=end{SLOW}{OWN[client]}"
        processes = [
            start(*strict.arguments(options, *batches)),
            start(*lenient.arguments(f"{options}&on_gap=continue", *batches)),
        ]
        for run, process in zip((strict, lenient), processes, strict=True):
            until(lambda run=run: len(run.predicted()) > 20, process)
        delete_records(broker.address, reads[client], {0: n - left})
        done = finish(processes[0])
        assert done.code == 3, done
        assert "records from offset" in done.err
        assert done.err.endswith(f"the oldest one left is {n - left}; on_gap=continue continues without them\n")
        assert strict.predicted() == ids(*range(strict.offset()))
        done = finish(processes[1])
        report = measured(lenient.report)
        assert (done.code, report["events"] + report["lost"]) == (0, n), done
        assert lenient.predicted() == ids(*range(report["events"] - left), *range(n - left, n))
        assert f": {report['lost']} records from offset {report['events'] - left} on are gone" in done.err

    for name in "sl":
        (tmp_path / name).mkdir()
    with_both(check)


def test_a_topic_recreated_between_runs_is_noticed(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """Its offsets mean something else than those in the checkpoint."""
    reads = {client: topic() for client in CLIENTS}

    def check(client: str) -> None:
        run = Run(broker, client, reads[client], topic, tmp_path)
        produce(broker.address, run.topic, [(None, good(i)) for i in range(5)])
        run.to_the_end("--limit", 2)
        made_anew(broker, run.topic, [good(i) for i in range(5, 9)])
        line = f"topic '{run.topic}' was deleted and created again; on_gap=continue reads the new one"
        assert run.refused().startswith(line)
        run.to_the_end(options="&on_gap=continue")
        assert run.predicted() == ids(0, 1, 5, 6, 7, 8)
        assert measured(run.report)["events"] == 6

    with_both(check)


def test_a_topic_recreated_during_a_run_is_noticed(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """As between runs, while the topic is being read."""
    reads = {client: topic() for client in CLIENTS}

    def check(client: str) -> None:
        produce(broker.address, reads[client], [(None, good(i)) for i in range(3)])
        strict, lenient = (Run(broker, client, reads[client], topic, tmp_path / name) for name in "sl")
        processes = [start(*strict.arguments("")), start(*lenient.arguments("&on_gap=continue", "--limit", 5))]
        for run, process in zip((strict, lenient), processes, strict=True):
            until(lambda run=run: run.predicted() == ids(0, 1, 2), process)
        made_anew(broker, strict.topic, [good(i) for i in range(3, 5)])
        done = finish(processes[0])
        assert (done.code, strict.offset()) == (3, 3), done
        assert f"topic '{strict.topic}' was deleted and created again; on_gap=continue" in done.err
        done = finish(processes[1])
        assert (done.code, lenient.predicted()) == (0, ids(*range(5))), done
        assert (lenient.offset(), measured(lenient.report)["events"]) == (2, 5)

    for name in "sl":
        (tmp_path / name).mkdir()
    with_both(check)


def made_anew(broker: Broker, name: str, values: list[bytes]) -> None:
    """Delete a topic and create another one of the same name."""
    delete_topic(broker.address, name)
    create_topic(broker.address, name)
    produce(broker.address, name, [(None, value) for value in values])


def test_clients_name_a_topic_alike(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """Whichever client goes on with the other's checkpoint knows the topic again by its id."""
    admin = AdminClient({"bootstrap.servers": broker.address})
    read = topic()
    while not {"+", "/"} & set(topic_id(admin, read)):  # ways to write these differ
        read = topic()
    produce(broker.address, read, [(None, good(i)) for i in range(3)])
    runs = [Run(broker, client, read, topic, tmp_path) for client in CLIENTS]
    for run in runs:
        run.state, run.predictions = runs[0].state, runs[0].predictions
    runs[0].to_the_end("--limit", 1)
    runs[1].to_the_end()
    assert runs[0].predicted() == ids(0, 1, 2)


def topic_id(admin: AdminClient, name: str) -> str:
    """Once the broker can tell it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return str(admin.describe_topics(TopicCollection([name]))[name].result(PATIENCE).topic_id)
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def test_a_full_disk(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """The run ends with the checkpoint it could still write; when there is room again it goes on from there."""
    read = topic()
    produce(broker.address, read, [(None, good(i)) for i in range(3000)])
    often = ("--set", "checkpoint.every_events=100", "--set", "pipeline.batch_size=50")

    (tmp_path / "whole").mkdir()
    whole = Run(broker, CLIENTS[0], read, topic, tmp_path / "whole")
    whole.to_the_end()

    def check(client: str) -> None:
        run = Run(broker, client, read, topic, tmp_path)
        done = with_small_files(110_000, *run.arguments("&stop=end", *often), code=3)
        assert notices(done) == [f"streamlin: can't write the checkpoint in {run.state}: File too large"]
        assert 0 < run.offset() < 3000
        run.to_the_end(*often)
        assert_same_state(run.state, whole.state)
        assert measured(run.report) == measured(whole.report)
        lines, expected = (read_all(broker.address, each.predictions) for each in (run, whole))
        assert {found.value for found in lines} == {found.value for found in expected}

    with_both(check)
