"""Checkpoints that a source asks for, on whatever thread it is."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


class CheckpointRequests:
    """Has a run saved for a source that asks for it, at a moment when all that it gave is dealt with.

    One thread learns, and asks the source for more. A request that is made on that thread is met at once; one from
    another thread, there, while the one that learns waits for the source; else by the one that learns, in between.

    save : saves, and returns when that is done.
    """

    def __init__(self, save: Callable[[], None]) -> None:
        self._save = save
        self._wanted: queue.SimpleQueue[threading.Event] = queue.SimpleQueue()
        self._over = threading.Event()
        self._learner = threading.get_ident()
        self._asking, self._asks = threading.Lock(), False
        """Whether who learns waits for the source."""

    @property
    def waiting(self) -> bool:
        """Whether one waits to be met."""
        return not self._wanted.empty()

    def ask(self) -> bool:
        """Have the run saved; whether it was: it isn't where it is over. By the source, on any thread."""
        if threading.get_ident() == self._learner:
            self._save()
            return True
        if self._save_while_asked():
            return True
        done = threading.Event()
        self._wanted.put(done)
        while not done.wait(0.1) and not self._save_while_asked():
            if self._over.is_set():
                return False
        return True

    def watch(self, items: Iterator[Item]) -> Iterator[Item]:
        """What the source gives, so that it is known who waits for it. To be called on the thread that learns."""
        self._learner = threading.get_ident()
        return self._watched(items)

    def meet(self) -> None:
        """Save for those that wait. By who learns: they hand over nothing, so all they gave is dealt with by now."""
        while not self._wanted.empty():
            done = self._wanted.get()
            self._save()
            done.set()

    def end(self) -> None:
        """The run is over: nobody needs to wait any more."""
        self._over.set()

    def _watched(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items; while who learns waits for one, a thread of the source's may save in his place."""
        while True:
            with self._asking:
                self._asks = threading.get_ident() == self._learner
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                with self._asking:
                    self._asks = False
            yield item

    def _save_while_asked(self) -> bool:
        """Save if who learns waits for the source, and so could not; everything he was given is dealt with."""
        with self._asking:
            if self._asks:
                self._save()
            return self._asks
