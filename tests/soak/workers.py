"""A run with workers, killed a hundred times: workers, the run, both, and the run exactly where it saves."""

import random
import signal
import time
from pathlib import Path

import pytest

from tests.cluster.killing import PLACES, killed_at
from tests.cluster.processes import Cluster, send
from tests.command_line import command_line, without_news
from tests.integration.processes import finish, kill, start, streamlin, until
from tests.integration.streams import real_events, roughened, write_lines
from tests.locations import DATA
from tests.sharding.runs import Ran

PATIENT = 240.0
WORKERS_KILLED, RUNS_KILLED, BOTH_KILLED, SAVES_KILLED = 40, 25, 15, 25
SAVED = ("--set", "checkpoint.every_events=90")
OPTIONS = ("--set", "mixing.floor=15", "--set", "mixing.max_events=45", "--set", "features.names=3000")


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some 700 rounds, of which a run does four a second; it saves every second one, which with two labels is quick."""
    events = roughened(real_events(DATA / "clickbait.jsonl.gz", 32_000))
    return write_lines(tmp_path_factory.mktemp("stream") / "headlines.jsonl", events)


@pytest.fixture(scope="module")
def reference(stream: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    ran = Ran(tmp_path_factory.mktemp("reference"))
    command_line(*ran.arguments(stream, *OPTIONS))
    return ran


def test_a_run_killed_a_hundred_times_ends_as_if_it_had_not_been(cluster: Cluster, stream, reference, tmp_path) -> None:
    """At random moments, with 1 to 3 workers at random; the seed is printed."""
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    chance, ran = random.Random(seed), Ran(tmp_path)
    left = ["worker"] * WORKERS_KILLED + ["run"] * RUNS_KILLED + ["both"] * BOTH_KILLED + ["save"] * SAVES_KILLED
    chance.shuffle(left)
    places, done, restored = [*PLACES] * (SAVES_KILLED // len(PLACES)), dict.fromkeys(left, 0), list[float]()
    chance.shuffle(places)

    def started(workers: int, env: dict[str, str]):
        options = ("--workers", workers, "--address", cluster.address, *OPTIONS)
        return start(*ran.arguments(f"{stream}?rate=200", *SAVED, *options), env=env)

    process, workers = None, 0
    while left:
        print(len(left), end=" ", flush=True)
        kind = left.pop()
        if kind == "save" or process is None:
            if process is not None:
                kill(process)
                process = None
            cluster.waited_for(0)
            workers, begin = chance.randint(1, 3), time.monotonic()
            aimed = killed_at(tmp_path / f"{len(left)}", places.pop(), chance.randint(2, 4)) if kind == "save" else {}
            process, before = started(workers, aimed), ran.rounds()
            if kind == "save":
                ended = finish(process, patience=PATIENT)
                assert (ended.code, ended.err) == (-signal.SIGKILL, ""), ended
                done[kind] += 1
                process = None
                continue
            until(lambda: ran.rounds() > before, process)  # noqa: B023
            restored.append(time.monotonic() - begin)
        time.sleep(chance.uniform(0, 0.5))
        victims = chance.sample(found := cluster.waited_for(workers), chance.randint(1, len(found)))
        if kind == "worker":
            before = ran.rounds()
            send(signal.SIGKILL, *victims)
            until(lambda: ran.rounds() > before + 2, process)  # noqa: B023
        else:
            if kind == "both":
                send(signal.SIGKILL, *victims)
            assert process.poll() is None, "the run ended before it could be killed"
            kill(process)
            process = None
        done[kind] += 1
    if process is not None:
        kill(process)
    print(f"killed: {done}; seconds from a start to a saved round: {sorted(round(one, 1) for one in restored)}")
    rest = streamlin(*ran.arguments(stream, *OPTIONS, "--workers", 2, "--address", cluster.address))
    assert without_news(rest.err) == ""
    ran.assert_same(reference)


def test_a_worker_that_gets_no_processor_ends_the_run_in_time(cluster: Cluster, stream, tmp_path) -> None:
    """Seven workers of a cluster with six processors."""
    options = ("--shards", 7, "--workers", 7, "--address", cluster.address, "--limit", 1000)
    done = finish(start("run", stream, *options), patience=PATIENT)
    assert done.code == 3
    assert "cluster: worker 6 does not come back: no answer in 60 s; Ray has 6 processors in all" in done.err
