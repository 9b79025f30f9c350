"""The command `streamlin` without a process of its own, for what can be told by its output and its exit code.

Signals, kills, rights and what a fresh interpreter imports need a process: see `tests.integration.processes`.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple
from unittest.mock import patch

from streamlin import cli
from streamlin.terminal.printing import set_log_format

_OF_A_PROCESS = (
    "streamlin.terminal.compile_notice.notify_when_compiling",
    "streamlin.commands.running.freeze",
)
"""What changes the whole process for good, so that later tests would see it."""


_NEWS = re.compile(r"^streamlin: (compiling kernels|\d+ % · |[\d,]+ events? · .*events/s).*\n", re.MULTILINE)
"""Lines that depend on the speed of the machine: kernels are compiled, and progress every few seconds."""


class Done(NamedTuple):
    """How a command ended: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


def environment(more: Mapping[str, str] | None) -> dict[str, str]:
    """The environment without settings of streamlin, with `more`, and with a terminal that could show colours."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
    return clean | {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | dict(more or {})


def command_line(
    *arguments: object,
    code: int | None = 0,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run the command in this process, from the main thread; it must end with `code`, if one is given."""
    with ExitStack() as stack:
        for name in _OF_A_PROCESS:
            stack.enter_context(patch(name))
        stack.enter_context(patch.dict(os.environ, environment(env), clear=True))
        stack.enter_context(chdir(cwd or "."))
        out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in "12")
        with _standard_streams(stdin, out, err):
            ended = cli.command_line([str(argument) for argument in arguments])
        set_log_format("text")
        result = Done(ended, _content(out), without_news(_content(err)))
    assert "\x1b" not in result.out + result.err, "escapes are for terminals"
    assert code in (None, result.code), result
    return result


def refused(*arguments: object, code: int = 2, **how: Any) -> str:
    """Run what must fail with one plain line and nothing else; the line."""
    return only_line(command_line(*arguments, code=code, **how))


def only_line(done: Done) -> str:
    """The one line of an error, without the name of the command that it begins with."""
    assert done.out == ""
    assert done.err.startswith("streamlin: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith("\n")
    return done.err.removeprefix("streamlin: ").removesuffix("\n")


def without_news(err: str) -> str:
    """Standard error without lines that only slow runs print."""
    return _NEWS.sub("", err)


@contextmanager
def _standard_streams(stdin: bytes, out: IO[bytes], err: IO[bytes]) -> Iterator[None]:
    """Exchange descriptors 0 to 2 and the files of `sys`; connectors use the descriptors."""
    with ExitStack() as stack:
        given = stack.enter_context(tempfile.TemporaryFile())
        given.write(stdin)
        given.seek(0)
        for number, file in enumerate((given, out, err)):
            stack.enter_context(_descriptor(number, file))
        for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
            text = stack.enter_context(open(number, mode, encoding="utf-8", closefd=False))
            stack.enter_context(patch.object(sys, name, text))
        yield


@contextmanager
def _descriptor(number: int, file: IO[bytes]) -> Iterator[None]:
    """Have a descriptor stand for another file."""
    kept = os.dup(number)
    os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)


def _content(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


if __name__ == "__main__":  # arguments of commands as JSON lines, and how each ended
    for line in sys.stdin:
        print(json.dumps(command_line(*json.loads(line), code=None)))
