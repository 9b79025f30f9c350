"""The command `streamlin` in processes of its own, started, stopped and killed as by users and supervisors."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.command_line import Done, environment, only_line, without_news
from tests.locations import ROOT
from tests.warm.process import Warm

PYTHON = [sys.executable, "-W", "error", "-m"]
MODULE = [*PYTHON, "streamlin.cli"]
PATIENCE = 180.0
"""Seconds that tests wait for something before they fail."""

_LESS_RIGHTS = "import ctypes; [ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) for capability in (1, 2)]"
"""PR_CAPBSET_DROP of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, so that permissions of files apply to root too."""
_SMALL_FILES = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"
_PEAK = (
    "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr); sys.exit(code)"
)

_STARTED: "list[subprocess.Popen[bytes]]" = []


def streamlin(
    *arguments: object,
    code: int = 0,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    before: str = "",
    fresh: bool | None = None,
) -> Done:
    """Run the command to its end; it must exit with `code`, and never with a traceback.

    before, fresh : see `start`.
    """
    with start(*arguments, stdin=subprocess.PIPE, cwd=cwd, env=env, before=before, fresh=fresh) as process:
        try:
            result = finish(process, stdin=stdin)
        finally:
            process.kill()
    assert "\x1b" not in result.out + result.err, "escapes are for terminals"
    assert result.code == code, result
    return result


def refused_by_process(*arguments: object, code: int = 2, **how: Any) -> str:
    """`tests.command_line.refused`, in a process of its own."""
    return only_line(streamlin(*arguments, code=code, **how))


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Call all, two at a time; their results."""
    with ThreadPoolExecutor(2) as threads:
        return [future.result() for future in [threads.submit(call) for call in calls]]


def start(
    *arguments: object, env: Mapping[str, str] | None = None, before: str = "", fresh: bool | None = None, **how: Any
) -> "subprocess.Popen[bytes]":
    """Start the command with pipes for standard output and error.

    before : Python to execute in the process first.
    fresh : start an interpreter, as users do, where that matters; otherwise see `tests.warm.process`. None: where an
        interpreter reads a variable of `env`.
    """
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    if before or (not only_settings(env) if fresh is None else fresh):
        process = subprocess.Popen(_command(arguments, before), env=environment(env), **how)
    else:
        process = Warm([str(argument) for argument in arguments], env=environment(env), **how)
    _STARTED.append(process)
    return process


def only_settings(env: Mapping[str, str] | None) -> bool:
    """Whether no variable is one that an interpreter reads as it starts."""
    return all(name.startswith("STREAMLIN_") for name in env or ())


def finish(
    process: "subprocess.Popen[bytes]", news: bool = True, stdin: bytes | None = None, patience: float = PATIENCE
) -> Done:
    """Wait for a process to end; there must be no traceback. `news` leaves out what `without_news` does."""
    out, err = process.communicate(stdin, timeout=patience)
    assert b"Traceback" not in err, err.decode()
    return Done(process.returncode, out.decode(), without_news(err.decode()) if news else err.decode())


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Send SIGKILL and wait for the end."""
    process.kill()
    process.communicate()


def kill_what_is_left() -> None:
    """Kill processes that a failed test has started and not ended."""
    while _STARTED:
        process = _STARTED.pop()
        if process.poll() is None:
            kill(process)


def until(condition: Callable[[], Any], process: "subprocess.Popen[bytes] | None" = None) -> None:
    """Wait until a condition holds; fail after `PATIENCE`, or if the process ends before.

    Looking takes a fifth of the time at most, so that processor time is left for what is waited for.
    """
    deadline, begin = time.monotonic() + PATIENCE, time.monotonic()
    while not condition():
        assert time.monotonic() < deadline, f"the condition did not hold within {PATIENCE} s"
        assert process is None or process.poll() is None or condition(), process.communicate()
        time.sleep(max(0.005, 4 * (time.monotonic() - begin)))
        begin = time.monotonic()


def with_less_rights(*commands: Sequence[object], cwd: Path) -> list[tuple[int, str]]:
    """Exit code and `only_line` of each command that must fail, run as by `ended_with_less_rights`."""
    return [(end.code, only_line(end)) for end in ended_with_less_rights(*commands, cwd=cwd)]


def ended_with_less_rights(*commands: Sequence[object], cwd: Path) -> list[Done]:
    """How each command ended, run by a user to whom permissions of files apply."""
    done = subprocess.run(
        _before(_LESS_RIGHTS if os.geteuid() == 0 else "", [*PYTHON, "tests.command_line"]),
        input="".join(json.dumps([str(argument) for argument in arguments]) + "\n" for arguments in commands),
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment({"PYTHONPATH": str(ROOT)}),
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done
    return [Done(*json.loads(line)) for line in done.stdout.splitlines()]


def with_small_files(size: int, *arguments: object, **how: Any) -> Done:
    """`streamlin` where no file may grow beyond a size in bytes, as if the disk were full there."""
    return streamlin(*arguments, before=_SMALL_FILES.format(size), **how)


def peak_of(*arguments: object) -> tuple[Done, int]:
    """`streamlin`, and its peak resident memory in MiB."""
    command = [sys.executable, "-c", _PEAK, *_command(arguments, "")]
    done = subprocess.run(command, capture_output=True, env=environment(None), timeout=PATIENCE)
    *err, peak = without_news(done.stderr.decode()).splitlines()
    return Done(done.returncode, done.stdout.decode(), "\n".join(err)), int(peak)


def memory_of(process: "subprocess.Popen[bytes]", line: str = "VmRSS") -> int:
    """The resident memory of a running process in MiB; its peak with the line `VmHWM`."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(row.split()[1]) for row in status.splitlines() if row.startswith(f"{line}:")) // 1024


def _command(arguments: Sequence[object], before: str) -> list[str]:
    return _before(before, [*MODULE, *(str(argument) for argument in arguments)])


def _before(program: str, command: list[str]) -> list[str]:
    """The command, in a process that executes some Python first."""
    if not program:
        return command
    return [sys.executable, "-c", f"import os, sys; {program}; os.execv(sys.argv[1], sys.argv[1:])", *command]
