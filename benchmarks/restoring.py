"""How long it takes until workers learn again, after one of them or the run is killed.

A worker is stopped first, so that nothing is learned any more, and then killed; the time ends with the next line that
is written. A run is killed and started again, with Ray and all workers; the time begins with that start.
"""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import STREAMLIN, log, write_synthetic
from benchmarks.tables import table
from tests.cluster.processes import descendants, name_of

KILLS, EVENTS, RATE, ROUND = 10, 1_000_000, 10_000, 2000
OPTIONS = (
    *("--shards", "4", "--workers", "2", "--set", f"mixing.floor={ROUND // 4}", "--set", f"mixing.max_events={ROUND}"),
    *("--set", "checkpoint.every_seconds=2"),
)
STUCK, PATIENCE = 1.0, 120.0
"""Seconds without a line after which no worker learns; seconds after which something is wrong."""


def measure(folder: Path, repeat: int) -> dict[str, list[float]]:
    """Seconds of each kill of a worker, and of each start of the run."""
    write_synthetic(folder / "stream.jsonl", events=EVENTS)
    found: dict[str, list[float]] = {"worker": [], "run": []}
    process = _started(folder)
    try:
        _until_written(folder)
        for number in range(KILLS):
            victim = _workers(process.pid)[number % 2]
            os.kill(victim, signal.SIGSTOP)
            _until_stuck(folder)
            begin = time.monotonic()
            os.kill(victim, signal.SIGKILL)
            found["worker"].append(_until_written(folder) - begin)
        log(f"restoring: {found['worker']}")
        for _ in range(KILLS):
            process.kill()
            process.wait()
            begin = time.monotonic()
            process = _started(folder)
            found["run"].append(_until_written(folder) - begin)
            time.sleep(3)
        log(f"restoring: {found['run']}")
    finally:
        process.terminate()
        process.wait()
    return found


def text(figures: dict[str, list[float]]) -> str:
    """A row for what was killed."""
    rows = [
        [name, str(len(own)), f"{median(own):.1f} s", f"{max(own):.1f} s"]
        for name, own in zip(("a worker", "the run"), figures.values(), strict=True)
    ]
    return table(["killed", "times", "until events are learned again, median", "longest"], rows)


def _started(folder: Path) -> "subprocess.Popen[bytes]":
    """A run on a Ray of its own."""
    source, written = f"{folder}/stream.jsonl?rate={RATE}", ("--predictions", _lines(folder))
    command = [STREAMLIN, "run", source, *OPTIONS, "--checkpoint", folder / "state", *written]
    return subprocess.Popen(command, **_QUIET)


_QUIET: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def _workers(pid: int) -> list[int]:
    """The processes that host shards, once both are there."""
    while len(found := [one for one in descendants(pid) if name_of(one).startswith("ray::Worker")]) < 2:
        time.sleep(0.01)
    return sorted(found)


def _lines(folder: Path) -> Path:
    return folder / "out.jsonl"


def _until_written(folder: Path) -> float:
    """The time at which the predictions become longer; a run that goes on may cut them first."""
    before, deadline = _size(folder), time.monotonic() + PATIENCE
    while (size := _size(folder)) <= before:
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing was written in {PATIENCE:.0f} s")
        before = size
        time.sleep(0.01)
    return time.monotonic()


def _until_stuck(folder: Path) -> None:
    """Wait until no lines are written any more."""
    before, since = _size(folder), time.monotonic()
    while time.monotonic() < since + STUCK:
        time.sleep(0.02)
        if (size := _size(folder)) != before:
            before, since = size, time.monotonic()


def _size(folder: Path) -> int:
    with suppress(FileNotFoundError):
        return _lines(folder).stat().st_size
    return 0
