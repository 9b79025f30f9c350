"""A second process that compiles while the run compiles, so that the first start takes half the time."""

import subprocess
import sys
from typing import Any

from streamlin.config import ExternalModelConfig, RunConfig
from streamlin.kernel.decorator import cache_folder

_SHARED = {"task", "fields", "features", "learners", "keys", "evaluation"}
"""The tables of the configuration that decide what is compiled."""


class SecondCompiler:
    """Another process that compiles what a run needs, from its end, while the run compiles from its beginning.

    They meet in the middle, see `streamlin.kernel.cache_files.Turn`. Models that are not ours are not imported twice.
    """

    def __init__(self, config: RunConfig) -> None:
        foreign = any(isinstance(learner, ExternalModelConfig) for learner in config.learners)
        self._config = None if foreign or config.task in ("parsing", "topics") else config
        self._process: subprocess.Popen[bytes] | None = None
        folder = cache_folder()
        if folder is not None and not folder.exists():
            self.start()  # at once, rather than when the first kernel is missed

    def start(self) -> None:
        """Start the process, unless it was."""
        if self._config is None or self._process is not None:
            return
        lines = ["lines"] if self._config.sinks.predictions else []
        command = [sys.executable, "-m", "streamlin.running.compiling", *lines]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, **pipes, start_new_session=True)  # Ctrl-C is for the run
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            stdin.write(self._config.model_dump_json(include=_SHARED).encode())

    def close(self) -> None:
        """End the process; what it has compiled is kept."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
