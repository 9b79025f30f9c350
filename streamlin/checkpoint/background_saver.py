"""Writing checkpoints beside the run."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.checkpoint.file import Checkpoint

_SPARE = 1.25
"""Memory that there is for a byte: tables grow."""


class Saver:
    """Saves to a checkpoint on a thread of its own: learning waits for a copy of the arrays only, not for the disk.

    What goes wrong there is raised by the next call of `save`, `wait` or `check`.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._thread = ThreadPoolExecutor(1, "streamlin-saver")
        self._running: Future[None] | None = None
        self._copies = _Copies()

    def save(
        self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any], saved: Callable[[], None], wait: bool
    ) -> None:
        """Save, once what was begun before is done; `saved` is called when it is on disk.

        wait : return only then. Else arrays and state are copied, and may change at once.
        """
        self.wait()
        if wait:
            self._checkpoint.save(arrays, state)
            saved()
            return
        copies = self._copies.of(arrays)
        self._running = self._thread.submit(self._save, copies, deepcopy(state), saved)

    def wait(self) -> None:
        """Until nothing is being saved."""
        if self._running is not None:
            running, self._running = self._running, None
            running.result()

    def check(self) -> None:
        """Raise what went wrong, if anything did."""
        if self._running is not None and self._running.done():
            self.wait()

    def close(self) -> None:
        """Let what is being saved come to its end."""
        self._thread.shutdown()

    def _save(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any], saved: Callable[[], None]) -> None:
        self._checkpoint.save(arrays, state)
        saved()


class _Copies:
    """Copies of arrays, in memory that is used again.

    To get new memory from the system takes many times as long as to copy something there, and learning waits for it.
    """

    def __init__(self) -> None:
        self._memory: dict[str, NDArray[np.uint8]] = {}

    def of(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Copies by name, contiguous; those of the call before mean nothing any more."""
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
