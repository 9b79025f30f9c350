"""Working ahead: an iterator on a thread of its own, while what it gave before is dealt with."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

_END = object()


class Ahead:
    """Runs an iterator on a thread of its own, a few items ahead; what it raises is raised where it is read.

    Gives None where the next item is not there yet after `patience` seconds.

    is_small : says of an item that little was to be had. The next one is asked for only when that is taken: what comes
        meanwhile makes it larger, where else ever more and ever smaller items would wait one behind the other.
    """

    def __init__(
        self,
        items: Iterator[Any],
        depth: int,
        patience: float,
        stop: threading.Event,
        is_small: Callable[[Any], bool] = lambda item: False,
    ) -> None:
        self._is_small = is_small
        self._queue: queue.Queue[Any] = queue.Queue(depth)
        self._patience, self._stop = patience, stop
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(items,), name="streamlin-reader", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Any]:
        while True:
            try:
                item = self._queue.get(timeout=self._patience)
            except queue.Empty:
                yield None
                continue
            if item is _END:
                break
            yield item
        self._thread.join()
        if self._error is not None:
            raise self._error

    def join(self, seconds: float | None = None) -> bool:
        """Wait for the thread, which ends at once when `stop` is set; whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self, items: Iterator[Any]) -> None:
        try:
            for item in items:
                if item is None:
                    continue
                if not self._put(item):
                    break
                if self._is_small(item):
                    self._wait_until_taken()
        except BaseException as error:  # raised again by the thread that reads
            self._error = error
        self._put(_END)

    def _put(self, item: Any) -> bool:
        while not self._stop.is_set():
            try:
                self._queue.put(item, timeout=0.1)
                return True
            except queue.Full:
                pass
        if item is _END:
            self._discard()
            self._queue.put(item)
        return False

    def _wait_until_taken(self) -> None:
        waiting = self._queue.queue
        with self._queue.not_full:  # as is told whenever something is taken
            while waiting and not self._stop.is_set():
                self._queue.not_full.wait(0.1)

    def _discard(self) -> None:
        while True:
            try:
                self._queue.get_nowait()
            except queue.Empty:
                return
