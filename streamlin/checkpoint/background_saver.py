"""Writing checkpoints in the background."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.checkpoint.file import Checkpoint

_SPARE = 1.25
"""Bytes of memory reserved for each byte of an array: tables grow."""


class BackgroundSaver:
    """Saves to a checkpoint on its own thread: learning waits only for a copy of the arrays, not for the disk.

    An exception there is raised by the next call of `save`, `wait` or `check`.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._thread = ThreadPoolExecutor(1, "streamlin-saver")
        self._running: Future[None] | None = None
        self._copies = _ArrayCopies()

    def save(
        self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any], saved: Callable[[], None], wait: bool
    ) -> None:
        """Save, once the save before is done; `saved` is called when everything is on disk.

        wait : return only then. Otherwise arrays and state are copied, and may change as soon as this returns.
        """
        self.wait()
        if wait:
            self._checkpoint.save(arrays, state)
            saved()
            return
        copies = self._copies.make(arrays)
        self._running = self._thread.submit(self._save, copies, deepcopy(state), saved)

    def wait(self) -> None:
        """Wait until nothing is being saved."""
        if self._running is not None:
            running, self._running = self._running, None
            running.result()

    def check(self) -> None:
        """Raise the exception of a save that has failed."""
        if self._running is not None and self._running.done():
            self.wait()

    def close(self) -> None:
        """Wait for the save that is going on."""
        self._thread.shutdown()

    def _save(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any], saved: Callable[[], None]) -> None:
        self._checkpoint.save(arrays, state)
        saved()


class _ArrayCopies:
    """Copies of arrays, in memory that is reused.

    Getting new memory from the system takes many times as long as copying, and learning waits for it.
    """

    def __init__(self) -> None:
        self._memory: dict[str, NDArray[np.uint8]] = {}

    def make(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Contiguous copies by name; the copies of the call before are overwritten."""
        for name in self._memory.keys() - arrays.keys():
            del self._memory[name]
        return {name: self._copy(name, array) for name, array in arrays.items()}

    def _copy(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        memory = self._memory.get(name)
        if memory is None or memory.size < array.nbytes:
            memory = self._memory[name] = np.empty(int(_SPARE * array.nbytes), np.uint8)
        copy: NDArray[Any] = memory[: array.nbytes].view(array.dtype).reshape(array.shape)
        copy[...] = array
        return copy
