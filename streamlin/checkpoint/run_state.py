"""What outlasts a run: the model, and the positions of its sources and sinks."""

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from streamlin.checkpoint.background_saver import BackgroundSaver
from streamlin.checkpoint.differing import differing
from streamlin.checkpoint.expected import expected_arrays
from streamlin.checkpoint.file import Checkpoint
from streamlin.checkpoint.models import new_model
from streamlin.config import RunConfig
from streamlin.errors import CheckpointError, ConfigError
from streamlin.events import Position
from streamlin.storage.arrays import Expected, Layout

Positions = dict[str, dict[str, Position]]
"""Key of a source -> key of a part -> position."""


class RunState:
    """A model with the positions of its sources and the lengths of its sinks; loaded from a checkpoint and saved to it.

    positions : where reading of each part of each source resumes, after what was learned.
    lengths : how much of each sink belongs to what was learned.
    number : of the last checkpoint; 0 if none was written.
    written : when the last checkpoint was written, in Unix seconds; None if none was written.
    lock : held while the model learns; another thread that uses the model holds it too.

    Raises
    ------
    CheckpointError : the checkpoint is damaged, in use, or was made with a different configuration.
    ConfigError : `previous` without a checkpoint.
    """

    def __init__(self, config: RunConfig, previous: bool = False) -> None:
        self.config, self.model = config, new_model(config)
        self.lock = threading.Lock()
        self.positions: Positions = {}
        self.lengths: dict[str, Any] = {}
        self.number = 0
        self.written: float | None = None
        self._open = ExitStack()
        self._open.callback(self.model.close)
        self._checkpoint: Checkpoint | None = None
        self._saver: BackgroundSaver | None = None
        try:
            self._resume(previous)
        except BaseException:
            self.close()
            raise

    @property
    def folder(self) -> Path | None:
        """The checkpoint's folder; None if no checkpoint is configured."""
        return None if self._checkpoint is None else self._checkpoint.folder

    @property
    def has_checkpoint(self) -> bool:
        """Whether a checkpoint is configured."""
        return self._saver is not None

    def restore_previous(self) -> None:
        """Make the previous checkpoint, which was loaded, the current one."""
        if self._checkpoint is not None:
            self._checkpoint.restore_previous()

    def save(self, saved: Callable[[int], None] = lambda number: None, wait: bool = False) -> None:
        """Write the next checkpoint.

        saved : called with its number once it is on disk. wait : return only then; otherwise write in the background.
        """
        assert self._saver is not None
        self._saver.wait()  # texts that wait on disk are deleted by `contents` as the checkpoint before allows it
        self.number = number = self.number + 1
        arrays, state = self.contents()
        self._saver.save(arrays, state, lambda: self._saved(saved, number), wait)

    def contents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The contents of a checkpoint: arrays by name, and JSON-able values."""
        arrays, learned = self.model.state()
        kept = {"number": self.number, "positions": dict(self.positions), "sinks": self.lengths}
        return arrays, {"fingerprint": self.config.fingerprint()} | kept | learned

    def check(self) -> None:
        """Raise the exception of a write that has failed."""
        if self._saver is not None:
            self._saver.check()

    def wait(self) -> None:
        """Wait until nothing is being written."""
        if self._saver is not None:
            self._saver.wait()

    def close(self) -> None:
        """Release the checkpoint for other processes."""
        self._open.close()

    def _saved(self, saved: Callable[[int], None], number: int) -> None:
        assert self._checkpoint is not None
        self.written = self._checkpoint.written()
        saved(number)

    def _resume(self, previous: bool) -> None:
        """Load the checkpoint, if one was written."""
        path = self.config.checkpoint.path
        if path is None:
            if previous:
                raise ConfigError("--previous needs a checkpoint; name its folder with --checkpoint")
            return
        self._checkpoint = Checkpoint(path, self.config.checkpoint.mode)
        self._open.callback(self._checkpoint.close)
        self._saver = BackgroundSaver(self._checkpoint)
        self._open.callback(self._saver.close)
        if not self._checkpoint.exists(previous):
            return
        arrays, state = self._checkpoint.load(previous, self._expected)
        self.model.restore(arrays, state)
        self.positions, self.number, self.lengths = state["positions"], state["number"], state["sinks"]
        self.written = self._checkpoint.written(previous)

    def _expected(self, layout: Mapping[str, Layout], state: Mapping[str, Any]) -> Mapping[str, Expected]:
        """What the arrays of the checkpoint must be. Raises CheckpointError if it is of another configuration."""
        difference = differing(self.config.fingerprint(), state["fingerprint"])
        if difference is not None:
            path = self.config.checkpoint.path
            raise CheckpointError(f"the checkpoint in {path} was made with a different configuration: {difference}")
        return expected_arrays(self.model, layout, state)


def save_copy(state: RunState, folder: str | Path) -> None:
    """Write what was learned to a folder, as a separate checkpoint.

    Raises
    ------
    ConfigError : texts wait for labels in a database, which a copy would not have.
    ConnectorError, CheckpointError : the folder can't be written, or is in use.
    """
    if state.config.delayed_labels.by_id and state.config.delayed_labels.store == "disk":
        raise ConfigError(
            "delayed_labels.store = 'disk' keeps waiting texts in a database, which a copy would lose: "
            "save to the pipeline's own checkpoint and copy its folder, or set delayed_labels.store = 'memory'"
        )
    checkpoint = Checkpoint(folder, state.config.checkpoint.mode)
    try:
        arrays, contents = state.contents()
        checkpoint.save(arrays, contents | {"number": 1, "positions": {}, "sinks": {}})
    finally:
        checkpoint.close()
