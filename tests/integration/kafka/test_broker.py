"""The local broker: started, killed and stopped as developers and tests do it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.kafka.broker import Broker, is_free
from deploy.kafka.library import BrokerError
from tests.integration.kafka.broker import PATIENCE, create_topic, delete_records, produce, read_all
from tests.integration.kafka.conftest import Topics
from tests.locations import ROOT

RECORDS = [(b"k", b"%d" % number, [("h", b"x")], number % 3) for number in range(9)]


def command(*arguments: object, code: int = 0, **env: str) -> str:
    """Run the script and return its output. `env` replaces variables of the environment."""
    done = subprocess.run(
        [sys.executable, "-m", "deploy.kafka.command", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | env,
        timeout=2 * PATIENCE,
    )
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def runs(pid: int) -> bool:
    """Whether a process is running; a zombie is not."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


@pytest.fixture
def notes(tmp_path: Path, kafka_library: Path) -> Iterator[Path]:
    """The folder with the script's notes of running brokers; they are stopped afterwards."""
    yield tmp_path / "notes"
    command("stop", "--notes", tmp_path / "notes")


def test_script(notes: Path, tmp_path: Path) -> None:
    """Start, twice; write and read; stop, twice: the broker is gone and its data, and nothing else."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (temporary / "of-others").touch()
    assert command("status", "--notes", notes, code=1) == "Kafka does not run\n"
    said = command("start", "--notes", notes, TMPDIR=str(temporary))
    running = json.loads((notes / "running.json").read_text())
    address, log = running["address"], Path(running["folder"]) / "broker.log"
    assert said == f"Kafka runs: {address} (process {running['pid']}, log {log})\n"
    assert log.parent.parent == temporary
    assert "Kafka Server started" in log.read_text()
    assert command("start", "--notes", notes) == said.replace("runs", "runs already")
    assert command("status", "--notes", notes) == said

    create_topic(address, "numbers", 3)
    produce(address, "numbers", RECORDS)
    assert [
        (found.key, found.value, found.headers, found.partition) for found in read_all(address, "numbers")
    ] == sorted(RECORDS, key=lambda record: record[3])

    assert command("stop", "--notes", notes) == "Kafka has stopped\n"
    assert not runs(running["pid"])
    assert is_free(int(address.rpartition(":")[2]))
    assert [path.name for path in temporary.iterdir()] == ["of-others"]
    assert command("stop", "--notes", notes) == "Kafka does not run\n"


def test_stop_spares_a_process_that_reuses_the_pid(notes: Path, tmp_path: Path) -> None:
    """After a broker died, another process has its pid: that is not killed, and the broker's data is removed."""
    folder = tmp_path / "left"
    (folder / "data").mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        notes.mkdir()
        note = {"pid": other.pid, "address": "127.0.0.1:1", "folder": str(folder)}
        (notes / "running.json").write_text(json.dumps(note))
        assert command("stop", "--notes", notes) == "Kafka does not run\n"
        assert other.poll() is None
        assert not folder.exists()
        other.communicate(b"\n")
    assert other.returncode == 0


def test_a_start_that_fails_shows_the_log(tmp_path: Path, kafka_library: Path) -> None:
    """The reason is among the last lines of the log; no process is left."""
    broker = Broker(tmp_path / "kafka")
    (tmp_path / "kafka" / "data").mkdir(parents=True)  # it looks prepared, and is not
    with pytest.raises(BrokerError, match=r"(?s)did not start.*meta\.properties"):
        broker.start()
    with pytest.raises(BrokerError, match="does not run"):
        _ = broker.pid


def test_a_taken_port(broker: Broker, tmp_path: Path) -> None:
    """Another broker is not taken for the one that did not start."""
    port = int(broker.address.rpartition(":")[2])
    second = Broker(tmp_path / "kafka", port=port)
    with pytest.raises(BrokerError, match=f"port {port} already"):
        second.start()


def test_records_survive_a_kill(tmp_path: Path, kafka_library: Path) -> None:
    """Killed and started again, the broker has its records, at its address, and takes more."""
    broker = Broker(tmp_path / "kafka")
    try:
        broker.start()
        create_topic(broker.address, "numbers", 3)
        produce(broker.address, "numbers", RECORDS)
        before, address, pid = read_all(broker.address, "numbers"), broker.address, broker.pid
        broker.kill()
        assert not runs(pid)
        broker.start()
        assert (broker.address, read_all(address, "numbers")) == (address, before)
        produce(address, "numbers", [(None, None)])
        assert [found.value for found in read_all(address, "numbers")].count(None) == 1
    finally:
        broker.stop()


def test_a_broker_ends_with_its_parent_process(tmp_path: Path, kafka_library: Path) -> None:
    """Even if the parent was killed."""
    code = f"""
from pathlib import Path
from deploy.kafka.broker import Broker
broker = Broker(Path({str(tmp_path / "kafka")!r}))
broker.start()
print(broker.pid, flush=True)
input()
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, **pipes) as starter:
        pid = int(starter.stdout.readline())
        assert runs(pid)
        starter.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while runs(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_deleted_records_are_gone(broker: Broker, topic: Topics) -> None:
    """A partition then begins at a later offset."""
    name = topic(partitions=3, config={"retention.ms": "-1"})
    produce(broker.address, name, RECORDS, compression_type="zstd")
    delete_records(broker.address, name, {1: 2})
    assert [(found.partition, found.offset) for found in read_all(broker.address, name)] == [
        *[(0, 0), (0, 1), (0, 2)],
        (1, 2),
        *[(2, 0), (2, 1), (2, 2)],
    ]
