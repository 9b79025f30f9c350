"""What outlasts a run: the model, and up to where every source and sink belongs to it."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from streamlin.checkpoint.background_saver import Saver
from streamlin.checkpoint.file import Checkpoint, differing
from streamlin.config import RunConfig
from streamlin.errors import CheckpointError, ConfigError
from streamlin.events import Position
from streamlin.model import Model

Positions = dict[str, dict[str, Position]]
"""By what a checkpoint calls the source, and then the part."""


class RunState:
    """A model with its sources' positions and its sinks' lengths; from a checkpoint and in it, if there is one.

    positions : where each part of each source goes on behind what was learned.
    lengths : what of each sink belongs to it.
    number : of the last checkpoint; 0: there is none.
    written : when that was written, Unix seconds; None: there is none.
    lock : held while the model learns; who asks it something from another thread holds it too.

    Raises
    ------
    CheckpointError : the checkpoint is damaged, another configuration's, or in use.
    ConfigError : `previous` without a checkpoint.
    """

    def __init__(self, config: RunConfig, previous: bool = False) -> None:
        self.config, self.model = config, Model(config)
        self.lock = threading.Lock()
        self.positions: Positions = {}
        self.lengths: dict[str, Any] = {}
        self.number = 0
        self.written: float | None = None
        self._open = ExitStack()
        self._open.callback(self.model.close)
        self._checkpoint: Checkpoint | None = None
        self._saver: Saver | None = None
        try:
            self._resume(previous)
        except BaseException:
            self.close()
            raise

    @property
    def is_kept(self) -> bool:
        """Whether there is a checkpoint to save to."""
        return self._saver is not None

    def go_back(self) -> None:
        """Make the previous checkpoint, which was taken, the current one."""
        if self._checkpoint is not None:
            self._checkpoint.go_back()

    def save(self, saved: Callable[[int], None] = lambda number: None, wait: bool = False) -> None:
        """Write the next checkpoint.

        saved : called with its number once it is on disk. wait : return only then; else it goes on beside the caller.
        """
        assert self._saver is not None
        self._saver.wait()  # texts that wait on disk are deleted by `contents` as the checkpoint before allows it
        self.number = number = self.number + 1
        arrays, state = self.contents()
        self._saver.save(arrays, state, lambda: self._saved(saved, number), wait)

    def contents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint holds: arrays by name, and JSON-able values."""
        arrays, learned = self.model.state()
        kept = {"number": self.number, "positions": dict(self.positions), "sinks": self.lengths}
        return arrays, {"fingerprint": self.config.fingerprint()} | kept | learned

    def check(self) -> None:
        """Raise what went wrong with writing, if anything did."""
        if self._saver is not None:
            self._saver.check()

    def wait(self) -> None:
        """Until nothing is being written."""
        if self._saver is not None:
            self._saver.wait()

    def close(self) -> None:
        """Let another process have the checkpoint."""
        self._open.close()

    def _saved(self, saved: Callable[[int], None], number: int) -> None:
        assert self._checkpoint is not None
        self.written = self._checkpoint.written()
        saved(number)

    def _resume(self, previous: bool) -> None:
        """Take the checkpoint, if there is one."""
        path = self.config.checkpoint.path
        if path is None:
            if previous:
                raise ConfigError("--previous needs a checkpoint; name its folder with --checkpoint")
            return
        self._checkpoint = Checkpoint(path)
        self._open.callback(self._checkpoint.close)
        self._saver = Saver(self._checkpoint)
        self._open.callback(self._saver.close)
        if not self._checkpoint.exists(previous):
            return
        arrays, state = self._checkpoint.load(previous)
        difference = differing(self.config.fingerprint(), state["fingerprint"])
        if difference is not None:
            raise CheckpointError(f"the checkpoint in {path} is another configuration's: {difference}")
        self.model.restore(arrays, state)
        self.positions, self.number, self.lengths = state["positions"], state["number"], state["sinks"]
        self.written = self._checkpoint.written(previous)


def save_copy(state: RunState, folder: str | Path) -> None:
    """Write what was learned to a folder as a checkpoint of its own. Raises ConnectorError, CheckpointError."""
    checkpoint = Checkpoint(folder)
    try:
        arrays, contents = state.contents()
        checkpoint.save(arrays, contents | {"number": 1, "positions": {}, "sinks": {}})
    finally:
        checkpoint.close()
