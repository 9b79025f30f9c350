"""The command `streamlin`, which dies, or says where it is, when it comes to a point for the n-th time.

    python faults.py POINT WHEN N ACTION run …

POINT : a key of POINTS, or `write`, a write to the checkpoint's file. WHEN : before, after; a write: in the middle.
ACTION : `die` by SIGKILL, or `tell`: write TOLD to standard output and go on.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from connectors.kafka import KafkaSink, KafkaSource
from streamlin import checkpoint, cli
from streamlin.checkpoint import Checkpoint
from streamlin.model import Model
from streamlin.outputs import Outputs

POINTS: dict[str, tuple[Any, str]] = {
    "learn": (Model, "step"),
    "send": (KafkaSink, "write_messages"),
    "sync": (Outputs, "sync"),
    "save": (Checkpoint, "save"),
    "fsync": (os, "fsync"),
    "link": (os, "link"),
    "replace": (Path, "replace"),
    "commit": (KafkaSource, "commit"),
}
TOLD = b"now\n"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def tell() -> None:
    os.write(1, TOLD)


class Countdown:
    """Acts at the n-th call."""

    def __init__(self, n: int, act: Callable[[], None]) -> None:
        self._left, self._act = n, act

    def __call__(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._act()


def watch(point: str, when: str, reached: Callable[[], None]) -> None:
    """Have `reached` called before, or after, every call of what stands at a point."""
    owner, name = POINTS[point]
    called = getattr(owner, name)

    def watched(*arguments: Any, **named: Any) -> Any:
        if when == "before":
            reached()
        result = called(*arguments, **named)
        if when == "after":
            reached()
        return result

    setattr(owner, name, watched)


class Torn:
    """A file, of which every write reaches the disk in two halves."""

    def __init__(self, file: Any, between: Callable[[], None]) -> None:
        self._file, self._between = file, between

    def write(self, data: Any) -> None:
        half = len(data) // 2
        self._file.write(data[:half])
        self._file.flush()
        self._between()
        self._file.write(data[half:])


def tear(reached: Callable[[], None]) -> None:
    """Have `reached` called in the middle of every write to a checkpoint's file."""
    write = checkpoint.write
    checkpoint.write = lambda file, *what: write(Torn(file, reached), *what)


def main(point: str, when: str, n: str, action: str, *arguments: str) -> None:
    reached = Countdown(int(n), {"die": die, "tell": tell}[action])
    if point == "write":
        tear(reached)
    else:
        watch(point, when, reached)
    sys.argv[1:] = arguments
    cli.main()


if __name__ == "__main__":
    main(*sys.argv[1:])
