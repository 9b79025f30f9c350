"""A broker that is killed, stopped, late, or gone for good: a run waits for it, reports it, and loses nothing."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from connectors.kafka.sink import KafkaSink
from deploy.kafka.broker import Broker
from streamlin.events import SinkContext
from tests.integration.kafka.broker import create_topic, produce, read_all
from tests.integration.kafka.clients import CLIENTS, with_both
from tests.integration.processes import PATIENCE, start, streamlin, together, until
from tests.integration.streams import assert_same_state, content, events_kept, measured

QUICK = (
    *("--set", "features.words.ngrams=[1, 1]", "--set", "evaluation.drift=none"),  # whose alarms would name topics
    *("--learner", "naive_bayes", "--learner", "logistic_regression"),
)
OFTEN = ("--set", "pipeline.batch_size=20", "--set", "checkpoint.every_events=100")
TOPIC = "events"
EVENTS = 2000
VALUES = [
    (None, json.dumps({"id": f"e{i}", "text": f"word{i % 97} word{i % 7}", "label": f"x{i % 3}"}).encode())
    for i in range(EVENTS)
]
LITTLE = {
    "kafka-python": "&max_partition_fetch_bytes=1",
    "confluent": "&max_partition_fetch_bytes=1&client.queued.min.messages=1&client.fetch.queue.backoff.ms=1",
}
"""Options with which little is fetched ahead."""


class Mortal(NamedTuple):
    """A broker that may be killed, with EVENTS in TOPIC, and the results of a run that read them without a break."""

    broker: Broker
    predictions: bytes
    report: Path
    state: Path


@pytest.fixture(scope="module")
def mortal(kafka_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortal]:
    folder = tmp_path_factory.mktemp("mortal")
    broker = Broker(folder / "broker")
    broker.start()
    try:
        create_topic(broker.address, TOPIC)
        for client in CLIENTS:
            for name in "plain", "transactional":
                create_topic(broker.address, f"{client}-{name}")
        produce(broker.address, TOPIC, VALUES, batch_num_messages=100, enable_idempotence=True)
        predictions, report, state = folder / "predictions.jsonl", folder / "report.json", folder / "state"
        streamlin(
            *("run", f"kafka://{broker.address}/{TOPIC}?stop=end", *QUICK, "--checkpoint", state),
            *("--predictions", predictions, "--report", report),
        )
        yield Mortal(broker, content(predictions), report, state)
    finally:
        broker.stop()


class Run:
    """A run with a client, in a folder of its own; over TOPIC to its end, or another topic."""

    def __init__(self, mortal: Mortal, client: str, folder: Path, read: str | None = None) -> None:
        folder.mkdir(exist_ok=True)
        self.mortal, self.client, self.state, self.read = mortal, client, folder / client, read
        self.report, self.said = folder / f"{client}.json", folder / f"{client}.err"
        self.predictions, self.topic = folder / f"{client}.jsonl", f"{client}-{folder.name}"
        self.transactional = folder.name == "transactional"

    def arguments(self, options: str = "", *more: object) -> tuple[object, ...]:
        read = f"{TOPIC}?stop=end&" if self.read is None else f"{self.read}?"
        source = f"kafka://{self.mortal.broker.address}/{read}client={self.client}{options}"
        return "run", source, *QUICK, *OFTEN, "--checkpoint", self.state, "--report", self.report, *more

    def start(self, options: str = "", *more: object) -> "subprocess.Popen[bytes]":
        with self.said.open("wb") as said:
            return start(*self.arguments(options, *more), stderr=said, stdout=subprocess.DEVNULL)

    def finish(self, process: "subprocess.Popen[bytes]") -> tuple[int, str]:
        """Exit code and standard error."""
        code = process.wait(PATIENCE)
        assert "Traceback" not in self.said.read_text()
        return code, self.said.read_text()

    def learned(self) -> int:
        """Events in the checkpoint."""
        return events_kept(self.state)

    def assert_complete(self) -> None:
        mine, expected = measured(self.report), measured(self.mortal.report)
        assert list(mine.pop("lag").values()) == list(expected.pop("lag").values())
        assert mine == expected
        assert_same_state(self.state, self.mortal.state, places=self.read is None)


def test_runs_continue_when_a_killed_broker_returns(mortal: Mortal, tmp_path: Path) -> None:
    """Runs that read and write, with transactions and without, report that the broker is away, and continue when it
    is back. With transactions every prediction comes once."""
    address, half = mortal.broker.address, EVENTS // 2
    create_topic(address, "growing")
    produce(address, "growing", VALUES[:half], batch_num_messages=100, enable_idempotence=True)
    runs = [
        Run(mortal, client, tmp_path / name, "growing") for name in ("plain", "transactional") for client in CLIENTS
    ]
    processes = []
    for run in runs:
        source, sink = f"&rate=1000{LITTLE[run.client]}", f"kafka://{address}/{run.topic}?client={run.client}"
        if run.transactional:
            source, sink = f"{source}&group={run.topic}", f"{sink}&group={run.topic}&transactional={run.topic}"
        processes.append(run.start(source, "--predictions", sink, "--limit", EVENTS))
    for run, process in zip(runs, processes, strict=True):
        until(lambda run=run: run.learned() > 500, process)
    mortal.broker.kill()
    for run, process in zip(runs, processes, strict=True):
        until(lambda run=run: address in run.said.read_text(), process)
    mortal.broker.start()
    produce(address, "growing", VALUES[half:], batch_num_messages=100, enable_idempotence=True)
    for run, process in zip(runs, processes, strict=True):
        code, said = run.finish(process)
        assert code == 0, said
        assert "tried again for" in said
        assert f"the brokers at {address} answer again" in said
        run.assert_complete()
        found = [record.value for record in read_all(address, run.topic)]
        expected = mortal.predictions.splitlines()
        assert found == expected if run.transactional else set(found) == set(expected)


def test_a_transaction_that_begins_without_a_broker(mortal: Mortal, client: str) -> None:
    """Its first request is not lost: once the broker is back, the whole transaction is committed."""
    address, topic = mortal.broker.address, f"early-{client}"
    create_topic(address, topic)
    options = {"client": client, "transactional": topic, "group": topic}
    sink = KafkaSink(f"{address}/{topic}", SinkContext(options, notice=list[str]().append))
    sink.write(b"before\n")
    sink.sync_with({"events/0": {"offset": 1}})
    mortal.broker.kill()

    def go_on() -> None:
        sink.write(b"without\n")
        sink.sync_with({"events/0": {"offset": 2}})

    def come_back() -> None:
        time.sleep(0.5)  # so that it is tried, and fails
        mortal.broker.start()

    together(go_on, come_back)
    sink.close()
    assert [found.value for found in read_all(address, topic)] == [b"before", b"without"]


def test_a_run_ends_after_give_up_after(mortal: Mortal, tmp_path: Path) -> None:
    """The checkpoint has all that was learned. A run without a broker does not start; if the broker comes in time,
    the run gives the same results as without the wait."""
    runs = [Run(mortal, client, tmp_path) for client in CLIENTS]
    late = [Run(mortal, client, tmp_path / "late") for client in CLIENTS]
    impatient = ("--set", "kafka.give_up_after=2", "--set", "kafka.connect_timeout=1")
    address = mortal.broker.address

    def given_up(client: str) -> None:
        run = runs[CLIENTS.index(client)]
        process = run.start(f"&rate=150{LITTLE[client]}", "--predictions", run.predictions, *impatient)
        until(lambda: run.learned() > 300, process)
        going.append(client)
        until(lambda: len(going) == len(CLIENTS))
        if client == CLIENTS[0]:
            mortal.broker.stop()
        code, said = run.finish(process)
        assert code == 3, said
        assert said.endswith("given up after 2 s (kafka.give_up_after)\n"), said
        assert address in said.splitlines()[-1]
        assert 300 < run.learned() < EVENTS
        assert run.learned() == content(run.predictions).count(b"\n")

    def nobody_there(client: str) -> None:
        run = runs[CLIENTS.index(client)]
        before = run.learned()
        for sink in run.predictions, f"kafka://{address}/{client}-plain?client={client}":
            done = streamlin(*run.arguments("", "--predictions", sink, *impatient), code=3)
            *notices, line = done.err.splitlines()
            assert line.startswith(f"streamlin: no broker at {address}: "), done
            assert line.endswith("given up after 1 s (kafka.connect_timeout)")
            assert len(notices) <= 1
            assert run.learned() == before

    going: list[str] = []
    with_both(given_up)
    with_both(nobody_there)
    processes = [run.start("", "--predictions", run.predictions) for run in (*runs, *late)]
    for run, process in zip((*runs, *late), processes, strict=True):
        until(lambda run=run: f"no broker at {address}" in run.said.read_text(), process)
    for run, process in list(zip((*runs, *late), processes, strict=True))[2:]:
        process.send_signal(signal.SIGTERM)
        assert run.finish(process)[0] == 0
    mortal.broker.start()
    for run, process in zip(runs, processes, strict=False):
        assert run.finish(process)[0] == 0
        run.assert_complete()
        assert content(run.predictions) == mortal.predictions
