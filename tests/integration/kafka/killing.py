"""A run over a topic that is killed again and again: at moments that chance picks, and at points of the program."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from streamlin.checkpoint import CURRENT, PREVIOUS, load
from tests.integration.kafka import faults
from tests.integration.processes import PATIENCE

BATCH, EVERY = 20, 50
"""Events of a batch, and of a checkpoint: so few that a kill falls between any two steps of one."""
SMALL = ("--set", f"pipeline.batch_size={BATCH}", "--set", f"checkpoint.every_events={EVERY}")

_PROGRAM = (sys.executable, "-P", "-W", "error", faults.__file__)
_LATEST = 0.02
"""Seconds after a step begins: a few checkpoints long."""
_SOME_TIME = ("learn", "before")


def points(chance: random.Random, without: Collection[str]) -> Iterator[tuple[str, str]]:
    """Where to kill, for ever: every second time any moment, else each point of the program in turn."""
    named = [(point, when) for point in faults.POINTS for when in ("before", "after") if point not in without]
    named.append(("write", "between"))
    chance.shuffle(named)
    while True:
        for point in named:
            yield point
            yield _SOME_TIME


class Killing:
    """Starts a run and kills it.

    arguments : of `streamlin run`. state : the folder of its checkpoint. records : how many there are in the topic.
    seed : of what is left to chance.
    without : points that the run never comes to.
    """

    def __init__(
        self, arguments: Sequence[object], state: Path, records: int, seed: str, without: Collection[str] = ()
    ) -> None:
        self._arguments = ["run", *map(str, arguments), *SMALL, "--checkpoint", str(state)]
        self._state, self._records = state, records
        self._chance = random.Random(seed)
        self._points = points(self._chance, without)

    def repeat(self, times: int) -> None:
        """Kill it so many times, at places all over the topic."""
        for left in range(times, 0, -1):
            self._once((self._records - self._dealt_with()) // left)

    def _once(self, share: int) -> None:
        """Kill it once, when it has dealt with some share of the records, or a bit less or more."""
        point, when = next(self._points)
        any_time = (point, when) == _SOME_TIME
        most = share // (2 * BATCH) if any_time else share // EVERY
        n = self._chance.randint(1, max(1, most))
        command = [*_PROGRAM, point, when, str(n), "tell" if any_time else "die", *self._arguments]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
        ) as process:
            try:
                if any_time and process.stdout is not None and process.stdout.readline() == faults.TOLD:
                    time.sleep(self._chance.uniform(0, _LATEST))
                    process.kill()
                said = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
        assert process.returncode == -signal.SIGKILL, (command, process.returncode, said)

    def _dealt_with(self) -> int:
        """Records before the positions in the checkpoint, which must be whole whenever there is one."""
        if not any((self._state / name).exists() for name in (CURRENT, PREVIOUS)):
            return 0
        _, state = load(self._state)
        return sum(position["offset"] for parts in state["positions"].values() for position in parts.values())


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
