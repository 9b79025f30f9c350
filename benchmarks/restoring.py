"""How long workers take to be restored, until the next round is in the checkpoint.

From the kill of a worker, and from the start of a run after its kill, which starts Ray and the workers anew.
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
    *("--set", "checkpoint.every_events=1"),
)
AHEAD = 3
"""Rounds that may end without a worker that was killed: one being saved, one counted, and one that it has learned."""
PATIENCE = 120.0


def measure(folder: Path, repeat: int) -> dict[str, list[float]]:
    """Seconds of each kill of a worker, and of each start of the run."""
    stream, state = folder / "stream.jsonl", folder / "state"
    write_synthetic(stream, events=EVENTS)
    found: dict[str, list[float]] = {"worker": [], "run": []}
    process = _started(stream, state)
    try:
        _until_saved(state)
        for number in range(KILLS):
            time.sleep(0.5)
            victim = _workers(process.pid)[number % 2]
            begin = time.monotonic()
            os.kill(victim, signal.SIGKILL)
            found["worker"].append(_until_saved(state, AHEAD + 1) - begin)
        log(f"restoring: {found['worker']}")
        for _ in range(KILLS):
            process.kill()
            process.wait()
            begin = time.monotonic()
            process = _started(stream, state)
            found["run"].append(_until_saved(state) - begin)
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
    return table(["killed", "times", "until restored, median", "longest"], rows)


def _started(stream: Path, state: Path) -> "subprocess.Popen[bytes]":
    """A run on a Ray of its own."""
    source = f"{stream}?rate={RATE}"
    return subprocess.Popen([STREAMLIN, "run", source, *OPTIONS, "--checkpoint", str(state)], **_QUIET)


_QUIET: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def _workers(pid: int) -> list[int]:
    """The processes that host shards, once both are there."""
    while len(found := [one for one in descendants(pid) if name_of(one).startswith("ray::Worker")]) < 2:
        time.sleep(0.01)
    return sorted(found)


def _until_saved(state: Path, times: int = 1) -> float:
    """The time at which that many further checkpoints are written."""
    before, deadline = _checkpoint(state), time.monotonic() + PATIENCE
    while times:
        if time.monotonic() > deadline:
            raise RuntimeError(f"no checkpoint in {PATIENCE:.0f} s")
        time.sleep(0.01)
        found = _checkpoint(state)
        times, before = times - (found != before), found
    return time.monotonic()


def _checkpoint(state: Path) -> int:
    with suppress(FileNotFoundError):
        return (state / "checkpoint.safetensors").stat().st_mtime_ns
    return 0
