"""Writing checkpoints beside the run."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.checkpoint import Checkpoint


class Saver:
    """Saves to a checkpoint on a thread of its own: learning waits for a copy of the arrays only, not for the disk.

    What goes wrong there is raised by the next call of `save`, `wait` or `check`.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._thread = ThreadPoolExecutor(1, "streamlin-saver")
        self._running: Future[None] | None = None

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
        copies = {name: np.array(array) for name, array in arrays.items()}
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
