"""How often each limit is tried, and the memory that it takes.

SOAK_TIMES makes it another number than three, for a trial.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.command_line import Done
from tests.integration.processes import memory_of, peak_of

three_times = pytest.mark.parametrize("number", range(int(os.environ.get("SOAK_TIMES", "3"))))
FRESH = 320
"""MiB that a command on a small stream may take at most."""


@contextmanager
def measured(what: str, process: "subprocess.Popen[bytes]", most: int) -> Iterator[None]:
    """Print the process's memory, and fail if its peak grows by more MiB than that."""
    before = memory_of(process)
    yield
    peak = memory_of(process, "VmHWM")
    print(f"\n    {what}: {before} MiB before, {peak} MiB at most")
    assert peak - before <= most


def command(what: str, *arguments: object, code: int = 0, most: int = FRESH) -> Done:
    """Run a command to its end, print its memory, and fail if its peak is more MiB than that."""
    done, peak = peak_of(*arguments)
    print(f"\n    {what}: {peak} MiB at most")
    assert done.code == code, done
    assert peak <= most
    return done
