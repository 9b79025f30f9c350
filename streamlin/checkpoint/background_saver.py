"""Writing checkpoints in the background."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.checkpoint.file import Checkpoint
from streamlin.checkpoint.layout import BLOCK, Arrays, as_bytes, blocks

_BUFFERS = 16
"""Blocks that may wait for the disk: 64 MiB."""
_SMALL = 1 << 16
"""Bytes of a block that is copied into memory of its own."""


class BackgroundSaver:
    """Saves to a checkpoint on its own thread: learning waits until all but the last 64 MiB are written, or copied.

    An exception there is raised by the next call of `save`, `wait` or `check`.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._thread = ThreadPoolExecutor(1, "streamlin-saver")
        self._running: Future[None] | None = None
        self._copies = _Copies()

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
        outlines = {name: np.broadcast_to(np.zeros((), array.dtype), array.shape) for name, array in arrays.items()}
        self._running = self._thread.submit(self._save, outlines, deepcopy(state), saved)
        self._copies.make(arrays)

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

    def _save(self, outlines: Arrays, state: Mapping[str, Any], saved: Callable[[], None]) -> None:
        """outlines : types and shapes; tables that are replaced meanwhile must not be kept."""
        copies = iter(self._copies)
        try:
            self._checkpoint.save(outlines, state, copies)
        finally:
            for _ in copies:  # after a failure, so that learning does not wait for ever
                pass
        saved()


class _Copies:
    """Copies of blocks on their way from the thread that learns to the one that writes: never of all arrays at once.

    Their memory is reused: getting new memory from the system takes many times as long as copying.
    """

    def __init__(self) -> None:
        self._made: SimpleQueue[tuple[NDArray[np.uint8] | None, memoryview] | BaseException | None] = SimpleQueue()
        self._free: SimpleQueue[NDArray[np.uint8]] = SimpleQueue()
        self._buffers = 0

    def make(self, arrays: Arrays) -> None:
        """Copy all blocks; waits while as many as may be are not written."""
        try:
            for block in blocks(arrays):
                self._made.put(self._copy(block))
        except BaseException as error:
            self._made.put(error)
            raise
        self._made.put(None)

    def __iter__(self) -> Iterator[memoryview]:
        """The copies of one call of `make`, in order; each may change once the next one is asked for.

        Raises what `make` raised, so that half of the arrays never becomes a checkpoint.
        """
        while (made := self._made.get()) is not None:
            if isinstance(made, BaseException):
                raise made
            buffer, copy = made
            yield copy
            if buffer is not None:
                self._free.put(buffer)

    def _copy(self, block: NDArray[Any]) -> tuple[NDArray[np.uint8] | None, memoryview]:
        if not _SMALL <= block.nbytes <= BLOCK:
            return None, as_bytes(block.copy())
        buffer = self._buffer()
        copy = buffer[: block.nbytes].view(block.dtype).reshape(block.shape)
        copy[...] = block
        return buffer, as_bytes(copy)

    def _buffer(self) -> NDArray[np.uint8]:
        if self._free.empty() and self._buffers < _BUFFERS:
            self._buffers += 1
            return np.empty(BLOCK, np.uint8)
        return self._free.get()
