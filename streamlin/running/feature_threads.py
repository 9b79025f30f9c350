"""Finding the features of several batches at the same time, while others are read and learned."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from streamlin.events import Batch


class FeatureThreads:
    """Finds the features of batches on threads of its own, which pays where most of that is kernels: they hold no GIL.

    find : Batch -> features; called by several threads at a time.
    """

    def __init__(self, find: Callable[[Batch], Any], threads: int) -> None:
        self._find = find
        self._pool = ThreadPoolExecutor(threads, "streamlin-features")

    def begin(self, batch: Batch) -> Future[Any]:
        """Find the features of a batch as soon as those before it are found or being found."""
        return self._pool.submit(self._find, batch)

    def close(self) -> None:
        """Drop the batches that wait, and end the threads."""
        self._pool.shutdown(cancel_futures=True)
