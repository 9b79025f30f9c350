"""A second process that compiles while the run compiles, so that the first start takes half the time."""

import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from streamlin.config import ExternalModelConfig, RunConfig
from streamlin.kernel.folders import cache_folder
from streamlin.kernel.late import ALONE, rely_on

_SHARED = {"task", "fields", "features", "learners", "keys", "evaluation"}
"""The tables of the configuration that decide what is compiled."""
_LOWEST = 19
"""The lowest priority."""
_PROGRAM = (
    "import sys; sys.path[:] = {path}; import gc; gc.disable(); from streamlin.running.compiling import main; main()"
)
"""It imports what the run does, and nothing from the folder that it happens to start in.

Nothing is collected: the process ends before it would matter, and a compiler makes many objects, as imports do.
"""


class SecondCompiler:
    """Another process that compiles what a run needs, from its end, while the run compiles from its beginning.

    They meet in the middle, see `streamlin.kernel.cache_files.Turn`. What learns is compiled first, the rest even when
    the run has ended before; until then Python does it for a run of texts, see `streamlin.kernel.late`. There is one
    such process at a time for all runs. Models that are not ours are not imported twice.

    notice : shows the user one line.
    """

    def __init__(self, config: RunConfig, notice: Callable[[str], None] = lambda _: None) -> None:
        self._notice = notice
        foreign = any(isinstance(learner, ExternalModelConfig) for learner in config.learners)
        is_alone = foreign or config.task in ("parsing", "topics") or ALONE in sys._xoptions
        self._config = None if is_alone else config
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        rely_on(self)

    def is_compiling(self) -> bool:
        """Whether a process compiles; it is started, unless it was, or that of another run compiles."""
        with self._starting:
            return self._is_compiling()

    def _is_compiling(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        if self._config is None or (folder := cache_folder()) is None:
            return False
        try:
            lock = _locked(folder)
        except BlockingIOError:
            return True
        try:
            self._process = _started(self._config, lock)
            self._notice("compiling kernels that are new to this machine, beside the run and some seconds after it")
        finally:
            for descriptor in lock:
                os.close(descriptor)
        return True

    def close(self) -> None:
        """Let the process end by itself, within seconds, and leave the processor to others meanwhile."""
        self._config = None  # none is started from now on
        if self._process is not None:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid, _LOWEST)
            threading.Thread(target=self._process.wait, daemon=True).start()  # else it would be a zombie


def _locked(folder: Path) -> list[int]:
    """The descriptor of a file that is locked; none where files can't be. Raises BlockingIOError: it was already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "second.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return []
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if isinstance(error, BlockingIOError):
            raise
        return []
    return [lock]


def _started(config: RunConfig, lock: list[int]) -> "subprocess.Popen[bytes]":
    """The process; it holds the lock until it ends."""
    lines = ["lines"] if config.sinks.predictions else []
    command = [sys.executable, "-c", _PROGRAM.format(path=sys.path), *lines]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **pipes, pass_fds=lock, start_new_session=True)  # Ctrl-C is for the run
    assert process.stdin is not None
    with process.stdin as stdin:
        stdin.write(config.model_dump_json(include=_SHARED).encode())
    return process
