"""A run over a topic that is killed repeatedly: at random moments, and at given points of the program."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from streamlin.checkpoint.file import CURRENT, PREVIOUS, load
from tests.integration.kafka import faults
from tests.integration.processes import PATIENCE

BATCH, EVERY = 20, 50
"""Events of a batch, and of a checkpoint: so few that a kill falls between any two steps of one."""
SMALL = ("--set", f"pipeline.batch_size={BATCH}", "--set", f"checkpoint.every_events={EVERY}")

_LATEST = 0.02
"""Seconds after a step begins: a few checkpoints long."""
_SOON = 4 * EVERY
_ANY_TIME = ("learn", "before")


def points(chance: random.Random, without: Collection[str]) -> Iterator[tuple[str, str]]:
    """Where to kill, without end: random moments in turn with each point of the program."""
    named = [(point, when) for point in faults.POINTS for when in ("before", "after") if point not in without]
    named.append(("write", "between"))
    chance.shuffle(named)
    while True:
        for point in named:
            yield point
            yield _ANY_TIME


class Processes:
    """The program `faults.py`, and its newest process."""

    def __init__(self) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
        self._program = subprocess.Popen(
            [sys.executable, "-P", "-W", "error", faults.__file__],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=clean | {"OPENBLAS_NUM_THREADS": "1"},  # threads do not survive a fork
        )
        self._newest = 0

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        if self._newest:
            self.kill()
        self._program.kill()
        self._program.communicate()

    def start(self, *command: object) -> None:
        """See `faults.py`."""
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps(command).encode() + b"\n")
        self._newest = int(self.line())

    def line(self) -> bytes:
        """Its next line."""
        assert self._program.stdout is not None
        assert self.says_something(PATIENCE), "nothing happens"
        return self._program.stdout.readline()

    def says_something(self, seconds: float) -> bool:
        """Whether there is a next line, by then."""
        return bool(select.select([self._program.stdout], [], [], seconds)[0])

    def kill(self) -> None:
        os.kill(self._newest, signal.SIGKILL)

    def code(self) -> int:
        """Its exit code, once it has ended."""
        code = int(self.line())
        self._newest = 0
        return code


class Killing:
    """Starts a run and kills it.

    arguments : of `streamlin run`. state : the folder of its checkpoint. records : how many there are in the topic.
    seed : of what is left to chance. without : points that the run never comes to.
    """

    def __init__(
        self, arguments: Sequence[object], state: Path, records: int, seed: str, without: Collection[str] = ()
    ) -> None:
        self._arguments = ["run", *map(str, arguments), *SMALL, "--checkpoint", str(state)]
        self._state, self._records = state, records
        self._chance = random.Random(seed)
        self._points = points(self._chance, without)

    def repeat(self, times: int) -> None:
        """Kill it `times` times, all over the topic, and often soon after the start."""
        with Processes() as processes:
            for left in range(times, 0, -1):
                share = (self._records - self._dealt_with()) // left
                self._once(processes, min(share, _SOON) if self._chance.random() < 0.5 else share)

    def _once(self, processes: Processes, share: int) -> None:
        """Kill it once, after about `share` more records."""
        point = next(self._points)
        any_time = point == _ANY_TIME
        most = share // (2 * BATCH) if any_time else share // EVERY
        n, output = self._chance.randint(1, max(1, most)), self._state.with_suffix(".said")
        processes.start(*point, n, "tell" if any_time else "die", str(output), *self._arguments)
        if any_time:
            assert processes.line() == faults.TOLD, output.read_text()
            time.sleep(self._chance.uniform(0, _LATEST))
            processes.kill()
        assert processes.code() == -signal.SIGKILL, (point, n, output.read_text())

    def _dealt_with(self) -> int:
        """Records before the positions in the checkpoint, which must be whole whenever there is one."""
        if not any((self._state / name).exists() for name in (CURRENT, PREVIOUS)):
            return 0
        _, state = load(self._state)
        return sum(position["offset"] for parts in state["positions"].values() for position in parts.values())
