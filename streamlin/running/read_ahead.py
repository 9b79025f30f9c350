"""Working ahead: an iterator on a thread of its own, while what it gave before is dealt with."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

_END = object()


class ReadAhead:
    """Runs an iterator on a thread of its own, a few items ahead; what it raises is raised where it is read.

    Gives None where the next item is not there yet after `patience` seconds, or where the iterator gives None.

    is_small : says of an item that little was to be had: whoever reads keeps up. From then on he asks for the next one
        himself, until one is not small. To hand over from thread to thread would only take time, and what comes while
        an item is dealt with makes the next one larger.
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
        self._given_back = threading.Event()
        self._items = items
        self._thread = threading.Thread(target=self._run, name="streamlin-reader", daemon=True)
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
            if self._is_small(item):
                yield from self._alone()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def join(self, seconds: float | None = None) -> bool:
        """Wait for the thread, which ends at once when `stop` is set; whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _alone(self) -> Iterator[Any]:
        """Items without the thread, until it is needed again or there are none."""
        for item in self._items:
            yield item
            if self._stop.is_set() or (item is not None and not self._is_small(item)):
                break
        self._given_back.set()

    def _run(self) -> None:
        try:
            for item in self._items:
                if item is None:
                    continue
                self._given_back.clear()  # before the item is there to be taken
                if not self._put(item):
                    break
                if self._is_small(item):
                    while not self._given_back.wait(0.1) and not self._stop.is_set():
                        pass
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

    def _discard(self) -> None:
        while True:
            try:
                self._queue.get_nowait()
            except queue.Empty:
                return
