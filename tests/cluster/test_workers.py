"""Runs whose shards are learned by workers: the same results however many there are, and whatever is killed."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.cluster.killing import killed_at
from tests.cluster.processes import Cluster, descendants, is_loopback, listening, name_of, send
from tests.command_line import command_line
from tests.integration.kafka.broker import produce
from tests.integration.kafka.runs import url
from tests.integration.pages import address_of
from tests.integration.processes import PATIENCE, finish, kill, refused_by_process, start, streamlin, until
from tests.integration.streams import assert_same_state, measured, real_events, roughened, write_lines
from tests.integration.test_metrics import scraped
from tests.integration.visits import Visit
from tests.locations import DATA
from tests.sharding.runs import OFTEN, Ran

FURTHER = ("--set", "features.names=3000", "--set", "fields.categories=['from']")
"""Names of features beyond their limit; a category."""
WORKER_METRICS = ("events", "learning_seconds", "mixing_seconds", "restarts")


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    events = [event | {"from": "ab"[i % 2]} for i, event in enumerate(real_events(DATA / "trec-6.jsonl.gz", 1500))]
    return write_lines(tmp_path_factory.mktemp("stream") / "trec.jsonl", roughened(events))


@pytest.fixture(scope="module")
def reference(stream: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run that learns its shards itself."""
    ran = Ran(tmp_path_factory.mktemp("reference"))
    command_line(*ran.arguments(stream, *FURTHER))
    return ran


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return Ran(tmp_path)


def on(cluster: Cluster, workers: int) -> tuple[object, ...]:
    return ("--workers", workers, "--address", cluster.address, *FURTHER)


def until_stuck(ran: Ran) -> None:
    """Wait until a run, a worker of which is stopped, is within a round, and makes no progress any more."""
    seen, since, deadline = ran.rounds(), time.monotonic(), time.monotonic() + PATIENCE
    while time.monotonic() < since + 0.5:
        assert time.monotonic() < deadline
        time.sleep(0.02)
        if ran.rounds() != seen or ran.last_plan() <= seen:  # between two rounds it may wait for events
            seen, since = ran.rounds(), time.monotonic()
    assert ran.last_plan() > seen


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_have_the_results_of_a_run_without_them(cluster, stream, reference, ran, workers):
    done = streamlin(*ran.arguments(stream, *on(cluster, workers)))
    assert done.err == ""
    ran.assert_same(reference)
    told = json.loads((ran.folder / "report.json").read_text())["workers"]
    assert [row["shards"] for row in told] == [[*range(worker, 3, workers)] for worker in range(workers)]
    assert sum(row["events"] for row in told) == 1500
    assert {row["restarts"] for row in told} == {0}
    assert all(row["learning_seconds"] > row["mixing_seconds"] > 0 for row in told)


def test_a_worker_killed_between_rounds_and_within_one_is_restored(cluster, stream, reference, ran, browser):
    """An idle worker that dies comes back without anything, and nobody is told: it must not learn."""
    watched = ("--dashboard", 0, "--metrics", 0)
    process = start(*ran.arguments(f"{stream}?rate=100", *OFTEN, *on(cluster, 2), *watched))
    page, metrics = address_of(process), address_of(process)
    until(lambda: ran.rounds() >= 2, process)
    send(signal.SIGKILL, cluster.waited_for(2)[0])
    before = ran.rounds()
    until(lambda: ran.rounds() > before + 1, process)
    restarted = [("streamlin_worker_restarts_total", str(worker)) for worker in range(2)]
    until(lambda: sum(scraped(metrics).get(name, 0) for name in restarted) > 0, process)  # told once a second
    told = scraped(metrics)
    workers = [[told[f"streamlin_worker_{name}_total", str(worker)] for name in WORKER_METRICS] for worker in range(2)]
    assert sum(restarts for *_, restarts in workers) == 1
    assert sum(events for events, *_ in workers) == told[("streamlin_events_total",)] > 0
    assert all(learning > mixing > 0 for _, learning, mixing, _ in workers)
    stopped = cluster.waited_for(2)[1]
    send(signal.SIGSTOP, stopped)
    until_stuck(ran)
    visit = Visit(browser, page)  # a busy browser takes its time; meanwhile the run does not end
    send(signal.SIGKILL, stopped)
    visit.state("the run has ended")
    counts = visit.counts()
    assert (counts["rounds of 3 shards"], counts["workers"], counts["restored"]) == (f"{ran.rounds()}", "2", "2")
    assert not visit.complaints
    done = finish(process)
    assert done.code == 0, done
    assert done.err.count(" was lost in round ") == len(done.err.splitlines()) == 2
    ran.assert_same(reference)
    assert sum(row["restarts"] for row in json.loads((ran.folder / "report.json").read_text())["workers"]) == 2


def test_rounds_of_dead_letters_alone_leave_workers_in_step(cluster, tmp_path):
    """Lines that can't be read follow a round that was prepared; more of them arrive alone, and then further events.

    The two runs follow one file, and are stopped while it grows, so that both find as much.
    """
    events, unreadable = real_events(DATA / "trec-6.jsonl.gz", 360), ["{no JSON\n"] * 30
    lines = [json.dumps(event) + "\n" for event in events]
    parts = ([*lines[:240], *unreadable], unreadable, [*lines[240:], *unreadable])
    file, runs = tmp_path / "live.jsonl", [Ran(tmp_path / "alone"), Ran(tmp_path / "hosted")]
    file.touch()
    processes = []
    for one, hosts in zip(runs, (FURTHER, on(cluster, 2)), strict=True):
        one.folder.mkdir()
        given = (*OFTEN, "--set", "pipeline.batch_size=1000", "--follow", *hosts)
        processes.append(start(*one.arguments(file, *given)))
    for number, part in enumerate(parts, 1):
        send(signal.SIGSTOP, *(process.pid for process in processes))
        with file.open("a") as out:
            out.writelines(part)
        send(signal.SIGCONT, *(process.pid for process in processes))
        for one, process in zip(runs, processes, strict=True):
            until(lambda: one.dead_letters() == number * len(unreadable), process)  # noqa: B023
    for one, process in zip(runs, processes, strict=True):
        process.send_signal(signal.SIGTERM)
        done = finish(process)
        assert (done.code, done.err, one.rounds()) == (0, "", 3)
    runs[1].assert_same(runs[0])


def test_a_run_killed_in_a_round_and_while_saving_ends_as_if_it_had_not_been(cluster, stream, reference, ran):
    """Each time it goes on with another number of workers, once without any. Once a worker is killed with it."""
    for number, (workers, rest) in enumerate([(2, False), (3, True)]):
        process = start(*ran.arguments(f"{stream}?rate=400", *OFTEN, *on(cluster, workers)))
        until(lambda: ran.rounds() >= 2 * number + 1, process)  # noqa: B023
        stopped = cluster.waited_for(workers)[0]
        send(signal.SIGSTOP, stopped)
        until_stuck(ran)
        if rest:
            send(signal.SIGKILL, stopped)
        kill(process)
        send(signal.SIGKILL, stopped)
        cluster.waited_for(0)
    for place, hosts in (("before the new one is renamed", FURTHER), ("before plans are dropped", on(cluster, 1))):
        env = killed_at(ran.folder / place, place, 2)
        done = finish(start(*ran.arguments(stream, *OFTEN, *hosts), env=env))
        assert (done.code, done.err) == (-signal.SIGKILL, "")
    streamlin(*ran.arguments(stream, *OFTEN, *on(cluster, 2)))
    ran.assert_same(reference)


def test_partitions_of_a_topic_are_learned_by_workers(cluster, broker, topic, tmp_path):
    """A worker and the run are killed in a round, which is run again as it was planned."""
    name = topic(4)
    events = real_events(DATA / "trec-6.jsonl.gz", 800)
    numbers = [i % 4 if i < 200 else i % 3 for i in range(len(events))]
    produce(broker.address, name, [(None, json.dumps(e).encode(), (), n) for e, n in zip(events, numbers, strict=True)])
    ours, theirs = Ran(tmp_path / "ours"), Ran(tmp_path / "theirs")
    for one in (ours, theirs):
        one.folder.mkdir()
    source = url(broker.address, name, "confluent", stop="end")
    command_line(*ours.arguments(source, *OFTEN, *FURTHER))
    process = start(*theirs.arguments(f"{source}&rate=300", *OFTEN, *on(cluster, 3)))
    until(lambda: theirs.rounds() >= 2, process)
    first, second, _ = cluster.waited_for(3)
    send(signal.SIGKILL, first)
    send(signal.SIGSTOP, second)
    until_stuck(theirs)
    kill(process)
    send(signal.SIGCONT, second)
    streamlin(*theirs.arguments(source, *OFTEN, *on(cluster, 2)))
    assert (ours.folder / "out.jsonl").read_bytes() == (theirs.folder / "out.jsonl").read_bytes()
    assert measured(ours.folder / "report.json") == measured(theirs.folder / "report.json")
    assert_same_state(ours.folder / "state", theirs.folder / "state", places=False)


def test_a_cluster_of_its_own_is_on_the_loopback_device_alone(stream, reference, ran, monkeypatch):
    """Whatever the run has started, the worker included; and nothing of it is left when the run is stopped."""
    for name in [name for name in os.environ if name.startswith("RAY_")]:
        monkeypatch.delenv(name)
    process = start(*ran.arguments(f"{stream}?rate=300", *OFTEN, "--workers", 1, *FURTHER))
    until(lambda: ran.rounds() >= 1, process)
    started = descendants(process.pid)
    found = listening(started)
    names = " ".join(name for names in found.values() for name in names)
    assert all(part in names for part in ("gcs_server", "raylet", "ray::Worker"))
    assert [local for local in found if not is_loopback(local)] == []
    process.send_signal(signal.SIGTERM)
    done = finish(process)
    assert (done.code, done.err) == (0, "")
    until(lambda: not any(name_of(pid) for pid in started))
    command_line(*ran.arguments(stream, *FURTHER))
    ran.assert_same(reference)


def test_a_worker_of_another_version_is_refused(cluster, stream, ran):
    """A run that takes itself for another version."""
    program = 'import streamlin.version\nstreamlin.version.__version__ = "0.0.9"\n'
    (ran.folder / "sitecustomize.py").write_text(program)
    env = {"PYTHONPATH": str(ran.folder)}
    line = refused_by_process("run", stream, "--shards", 2, *on(cluster, 1), env=env)
    assert line == "cluster: a worker has streamlin 0.1.0, but the run 0.0.9; install the same"
