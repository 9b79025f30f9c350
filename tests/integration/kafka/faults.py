"""The command `streamlin` in processes that die, or tell where they are, when they come to a point for the n-th time.

A program. It reads commands from standard input, a JSON list each: POINT WHEN N ACTION FILE run …

POINT : a key of POINTS, or `write`, a write to the checkpoint's file. WHEN : before, after; a write: in the middle.
ACTION : `die` by SIGKILL, or `tell` and go on. FILE : where the output goes.

For each it forks a process, and writes to standard output that process's number, TOLD if it tells, at last its exit
code. Everything is imported and compiled before: a start takes a tenth of the usual time.
"""

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import connectors.kafka.confluent_client.client
from connectors.kafka import KafkaSink, KafkaSource
from streamlin import cli
from streamlin.checkpoint import file as checkpoint_file
from streamlin.checkpoint.file import Checkpoint
from streamlin.model import Model
from streamlin.streams.sinks import Sinks

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # as the connector does
    import connectors.kafka.python_client.client  # noqa: F401

POINTS: dict[str, tuple[Any, str]] = {
    "learn": (Model, "step"),
    "send": (KafkaSink, "write_messages"),
    "sync": (Sinks, "sync"),
    "save": (Checkpoint, "save"),
    "fsync": (os, "fsync"),
    "link": (os, "link"),
    "replace": (Path, "replace"),
    "commit": (KafkaSource, "commit"),
}
TOLD = b"now\n"


class Countdown:
    """Acts at the n-th call."""

    def __init__(self, n: int, act: Callable[[], object]) -> None:
        self._left, self._act = n, act

    def __call__(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._act()


def watch(point: str, when: str, reached: Callable[[], None]) -> None:
    """Have `reached` called before or after every call of the function at a point."""
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
    """A file whose writes reach the disk in two halves."""

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
    write = checkpoint_file.write
    checkpoint_file.write = lambda file, *what: write(Torn(file, reached), *what)


def run(point: str, when: str, n: int, action: str, file: str, *arguments: str) -> None:
    """Run the command in this process."""
    os.write(1, b"%d\n" % os.getpid())
    told, output = os.dup(1), os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in 1, 2:
        os.dup2(output, number)
    actions = {"die": lambda: os.kill(os.getpid(), signal.SIGKILL), "tell": lambda: os.write(told, TOLD)}
    reached = Countdown(n, actions[action])
    if point == "write":
        tear(reached)
    else:
        watch(point, when, reached)
    sys.argv[1:] = arguments
    cli.main()


def main() -> None:
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        cli.app(["run", "synthetic://?events=10", "--set", "features.words.ngrams=[1, 1]"], standalone_mode=False)
    for line in sys.stdin.buffer:
        process = os.fork()
        if process == 0:
            try:
                run(*json.loads(line))
            finally:
                os._exit(1)
        _, status = os.waitpid(process, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
