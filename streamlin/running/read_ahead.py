"""Reading ahead: an iterator runs on its own thread while its earlier items are processed."""

import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

DEPTH = 3
"""Portions read before they are needed: enough to keep both threads busy, few enough to hold in memory."""
IDLE_SECONDS = 0.05
"""Seconds without records after which the consumer gets None, and may flush its sinks."""
_SWITCH_INTERVAL = 0.0005
"""Seconds until a thread that decodes yields to the one that learns; the interpreter's 5 ms are several batches."""
_END = object()


class ReadAhead:
    """Runs an iterator on its own thread, a few items ahead; its exception is raised in the consumer.

    Gives None if the next item is not there after `idle_seconds`, or if the iterator gives None; nothing more once
    `stop` is set.

    is_small : whether an item is so small that the consumer keeps up. From then on the consumer reads directly, on its
        own thread, until an item is not small: a switch between threads would only take time, and what arrives while
        an item is processed makes the next one larger.
    """

    def __init__(
        self,
        items: Iterator[Any],
        depth: int,
        idle_seconds: float,
        stop: threading.Event,
        is_small: Callable[[Any], bool] = lambda item: False,
    ) -> None:
        self._is_small = is_small
        self._queue: queue.Queue[Any] = queue.Queue(depth)
        self._idle_seconds, self._stop = idle_seconds, stop
        self._error: BaseException | None = None
        self._may_read = threading.Event()
        """Set when the consumer no longer reads directly."""
        self._items = items
        self._thread = threading.Thread(target=self._run, name="streamlin-reader", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Any]:
        while True:
            try:
                item = self._queue.get(timeout=self._idle_seconds)
            except queue.Empty:
                yield None
                continue
            if item is _END:
                break
            if self._stop.is_set():  # items before this one may have been discarded
                continue
            yield item
            if self._is_small(item):
                yield from self._read_directly()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def join(self, seconds: float | None = None) -> bool:
        """Wait for the thread, which ends at once when `stop` is set; returns whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _read_directly(self) -> Iterator[Any]:
        """Items without the thread, until one is not small or the iterator ends."""
        for item in self._items:
            yield item
            if self._stop.is_set() or (item is not None and not self._is_small(item)):
                break
        self._may_read.set()

    def _run(self) -> None:
        try:
            for item in self._items:
                if item is None:
                    continue
                self._may_read.clear()  # before the consumer can get the item
                if not self._put(item):
                    break
                if self._is_small(item) and not self._wait_for_consumer():
                    break
        except BaseException as error:  # raised again by the consumer
            self._error = error
        self._put(_END)

    def _wait_for_consumer(self) -> bool:
        """Wait while the consumer reads directly. False if the run stops: the consumer may still be in the iterator."""
        while not self._may_read.wait(0.1):
            if self._stop.is_set():
                return False
        return True

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


@contextmanager
def short_turns() -> Iterator[None]:
    """Meanwhile threads take short turns in the interpreter."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
