"""Start and stop one broker for a developer; what runs is noted in the checkout's folder .kafka."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from deploy.kafka.broker import PATIENCE, Broker, is_free
from deploy.kafka.library import HERE, BrokerError
from deploy.kafka.locking import exclusive

NOTES = HERE.parents[1] / ".kafka"
USUAL_PORT = 9092


class Running(NamedTuple):
    """A broker that was started; its folder holds log and data."""

    pid: int
    address: str
    folder: str

    def __str__(self) -> str:
        return f"{self.address} (process {self.pid}, log {Path(self.folder) / 'broker.log'})"

    def is_alive(self) -> bool:
        """Whether the process still is that broker, not another with its id."""
        return self.folder in _command_line(self.pid)


def main(arguments: Sequence[str]) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m deploy.kafka.command", description=__doc__)
    parser.add_argument("action", choices=["start", "stop", "status"])
    parser.add_argument("--notes", type=Path, default=NOTES, help="where what runs is noted (%(default)s)")
    asked = parser.parse_args(arguments)
    try:
        with exclusive(asked.notes):
            return {"start": _start, "stop": _stop, "status": _status}[asked.action](asked.notes / "running.json")
    except BrokerError as error:
        print(error, file=sys.stderr)
        return 1


def _start(note: Path) -> int:
    running = _noted(note)
    if running and running.is_alive():
        print(f"Kafka runs already: {running}")
        return 0
    _forget(note)
    running = _started()
    note.write_text(json.dumps(running._asdict()))
    print(f"Kafka runs: {running}")
    return 0


def _started() -> Running:
    folder = Path(tempfile.mkdtemp(prefix="streamlin-kafka-"))
    broker = Broker(folder, port=USUAL_PORT if is_free(USUAL_PORT) else None, outlives=True)
    try:
        broker.start()
    except BaseException:
        broker.kill()
        shutil.rmtree(folder)
        raise
    return Running(broker.pid, broker.address, str(folder))


def _stop(note: Path) -> int:
    running = _noted(note)
    if running and running.is_alive():
        _end(running)
        print("Kafka has stopped")
    else:
        print("Kafka does not run")
    _forget(note)
    return 0


def _end(running: Running) -> None:
    os.kill(running.pid, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    while running.is_alive():
        if time.monotonic() > deadline:
            raise BrokerError(f"Kafka does not stop: {running}")
        time.sleep(0.02)


def _status(note: Path) -> int:
    running = _noted(note)
    alive = running is not None and running.is_alive()
    print(f"Kafka runs: {running}" if alive else "Kafka does not run")
    return 0 if alive else 1


def _noted(note: Path) -> Running | None:
    return Running(**json.loads(note.read_text())) if note.exists() else None


def _forget(note: Path) -> None:
    """Remove the files of a broker that no longer runs."""
    if running := _noted(note):
        shutil.rmtree(running.folder, ignore_errors=True)
        note.unlink()


def _command_line(pid: int) -> str:
    """A process's command line; empty if it does not run."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    return subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
