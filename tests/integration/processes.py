"""The command `streamlin` in processes of its own, the way users and supervisors start, stop and kill it."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

MODULE = [sys.executable, "-W", "error", "-m", "streamlin.cli"]
PATIENCE = 60.0
"""Seconds after which something that has not happened never will."""

COMPILING = re.compile(r"^streamlin: compiling kernels.*\n", re.MULTILINE)
_LESS_RIGHTS = "import ctypes; [ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) for capability in (1, 2)]"
"""PR_CAPBSET_DROP of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: root may no longer pass over the rights of files."""
_SMALL_FILES = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"
_PEAK = (
    "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr); sys.exit(code)"
)

_STARTED: "list[subprocess.Popen[bytes]]" = []


class Done(NamedTuple):
    """How a process ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


def streamlin(
    *arguments: object,
    code: int = 0,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    before: str = "",
) -> Done:
    """Run the command to its end; it must exit with `code`, and never with a traceback.

    before : Python to execute in the process first.
    """
    done = subprocess.run(
        _command(arguments, before), input=stdin, capture_output=True, cwd=cwd, env=_environment(env), timeout=PATIENCE
    )
    result = Done(done.returncode, done.stdout.decode(), _news(done.stderr))
    assert "Traceback" not in result.err, result.err
    assert "\x1b" not in result.out + result.err, "escapes are for terminals"
    assert result.code == code, result
    return result


def refused(*arguments: object, code: int = 2, **how: Any) -> str:
    """Run what must fail with one plain line and nothing else; the line."""
    done = streamlin(*arguments, code=code, **how)
    assert done.out == ""
    assert done.err.startswith("streamlin: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith("\n")
    return done.err.removeprefix("streamlin: ").removesuffix("\n")


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Call all, two at a time; what they return."""
    with ThreadPoolExecutor(2) as threads:
        return [future.result() for future in [threads.submit(call) for call in calls]]


def start(*arguments: object, **how: Any) -> "subprocess.Popen[bytes]":
    """Start the command; standard output and error are pipes. before : as that of `streamlin`."""
    env, before = _environment(how.pop("env", None)), how.pop("before", "")
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    process = subprocess.Popen(_command(arguments, before), env=env, **how)
    _STARTED.append(process)
    return process


def finish(process: "subprocess.Popen[bytes]", news: bool = True) -> Done:
    """Wait for a process to end; there must be no traceback. Without `news` standard error is as it came."""
    out, err = process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in err, err.decode()
    return Done(process.returncode, out.decode(), _news(err) if news else err.decode())


def kill(process: "subprocess.Popen[bytes]") -> None:
    """SIGKILL, whatever it is doing."""
    process.kill()
    process.communicate()


def kill_what_is_left() -> None:
    """Of the processes that a test started and, as it failed, did not end."""
    while _STARTED:
        process = _STARTED.pop()
        if process.poll() is None:
            kill(process)


def until(condition: Callable[[], Any], process: "subprocess.Popen[bytes] | None" = None) -> None:
    """Wait until something holds; fail if it never does, or if the process ends before."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        assert process is None or process.poll() is None or condition(), process.communicate()
        time.sleep(0.005)


def with_less_rights(*arguments: object, **how: Any) -> str:
    """`refused`, for a user to whom the rights of files apply."""
    return refused(*arguments, before=_LESS_RIGHTS if os.geteuid() == 0 else "", **how)


def with_small_files(size: int, *arguments: object, **how: Any) -> Done:
    """`streamlin`, where the system lets no file grow over a size: the disk is full at an arbitrary byte."""
    return streamlin(*arguments, before=_SMALL_FILES.format(size), **how)


def peak_of(*arguments: object) -> tuple[Done, int]:
    """`streamlin`, and the most MiB of memory it held."""
    command = [sys.executable, "-c", _PEAK, *_command(arguments, "")]
    done = subprocess.run(command, capture_output=True, env=_environment(None), timeout=PATIENCE)
    *err, peak = _news(done.stderr).splitlines()
    return Done(done.returncode, done.stdout.decode(), "\n".join(err)), int(peak)


def _news(err: bytes) -> str:
    """Standard error without the line that a process shows which is the first to need some kernel."""
    return COMPILING.sub("", err.decode())


def _command(arguments: Sequence[object], before: str) -> list[str]:
    texts = [str(argument) for argument in arguments]
    if not before:
        return [*MODULE, *texts]
    return [sys.executable, "-c", f"import os, sys; {before}; os.execv(sys.argv[1], sys.argv[1:])", *MODULE, *texts]


def _environment(more: dict[str, str] | None) -> dict[str, str]:
    """The environment, no settings of ours from outside in it, and a terminal that could show colours."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
    return clean | {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | (more or {})
