"""Running commands as real processes, and measuring them."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

STREAMLIN = str(Path(sys.executable).parent / "streamlin")


class Finished(NamedTuple):
    """seconds : from start to exit. user_seconds : user CPU time. peak_bytes : peak resident memory."""

    seconds: float
    user_seconds: float
    peak_bytes: int
    stderr: str
    stdout: str


def streamlin(*arguments: str, environment: Mapping[str, str] | None = None) -> Finished:
    """Run `streamlin` to its end. Raises RuntimeError if it fails, since its figures would mean nothing."""
    return run(STREAMLIN, *arguments, environment=environment)


def reported(folder: Path, *arguments: str) -> tuple[Finished, dict[str, Any]]:
    """Run `streamlin run`; also returns its report."""
    path = folder / "report.json"
    finished = streamlin("run", *arguments, "--report", str(path))
    return finished, json.loads(path.read_bytes())


def run_module(module: str, *arguments: str) -> tuple[Finished, Any]:
    """Run a module of this package in its own process; also returns the JSON that it prints."""
    finished = run(sys.executable, "-m", f"benchmarks.{module}", *arguments)
    return finished, json.loads(finished.stdout)


def run(*command: str, environment: Mapping[str, str] | None = None) -> Finished:
    """Run any command; see `streamlin`."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=plain | dict(environment or {}))
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        answer, said = _text(stdout), _text(stderr)
    wait_for_compilers()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with exit code {process.returncode}: {said}")
    return Finished(seconds, usage.ru_utime, usage.ru_maxrss * 1024, said, answer)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def write_synthetic(path: Path, **options: int) -> None:
    """Write a synthetic stream as JSON lines, in a process of its own to keep this one small."""
    program = f"from connectors.synthetic.source import write_jsonl; write_jsonl({str(path)!r}, **{options})"
    run(sys.executable, "-c", program)


def wait_for_compilers() -> None:
    """Wait until no process compiles kernels for a run that has ended."""
    while any(b"streamlin.running.compiling" in _command(path) for path in Path("/proc").glob("[0-9]*/cmdline")):
        time.sleep(0.1)


def _command(path: Path) -> bytes:
    """What `/proc` shows of a process; nothing once it has ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def log(line: str) -> None:
    """Print progress to standard error."""
    print(f"  {line}", file=sys.stderr, flush=True)


def repetitions(repeat: int, of: str = "") -> Iterator[int]:
    """Count the repetitions from 0 on, and print that each begins. of : what is repeated."""
    for number in range(repeat):
        log(f"{of + ': ' if of else ''}repetition {number + 1} of {repeat}")
        yield number
