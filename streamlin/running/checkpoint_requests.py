"""Checkpoints that a source requests, from any thread."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


class CheckpointRequests:
    """Saves a run when its source requests it, at a moment when everything the source handed over has been processed.

    One thread, the learner, learns and reads from the source. A request on that thread is met at once. A request from
    another thread is met there while the learner waits for the source, otherwise by the learner, between two portions.

    save : saves, and returns when everything is on disk.
    """

    def __init__(self, save: Callable[[], None]) -> None:
        self._save = save
        self._pending: queue.SimpleQueue[threading.Event] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._learner = threading.get_ident()
        self._lock, self._learner_waits = threading.Lock(), False
        """Whether the learner waits for the source; guarded by the lock."""

    @property
    def pending(self) -> bool:
        """Whether a request waits for the learner."""
        return not self._pending.empty()

    def request(self) -> bool:
        """Have the run saved; called by the source, on any thread. False if the run has ended without saving."""
        if threading.get_ident() == self._learner:
            self._save()
            return True
        if self._save_if_learner_waits():
            return True
        done = threading.Event()
        self._pending.put(done)
        while not done.wait(0.1) and not self._save_if_learner_waits():
            if self._ended.is_set():
                return False
        return True

    def watch(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items of a source, observed so that it is known when the learner waits for one. Call on the learner."""
        self._learner = threading.get_ident()
        return self._watched(items)

    def save_pending(self) -> None:
        """Save for the requests that wait. Call on the learner.

        A source hands over nothing while its request waits, so everything it handed over has been processed by now.
        """
        while not self._pending.empty():
            done = self._pending.get()
            self._save()
            done.set()

    def end(self) -> None:
        """The run is over: release the requests that wait."""
        self._ended.set()

    def _watched(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items; while the learner waits for one, a thread of the source may save in its place."""
        while True:
            with self._lock:
                self._learner_waits = threading.get_ident() == self._learner
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                with self._lock:
                    self._learner_waits = False
            yield item

    def _save_if_learner_waits(self) -> bool:
        """Save if the learner waits for the source: everything it got has been processed. Whether it was saved."""
        with self._lock:
            if self._learner_waits:
                self._save()
            return self._learner_waits
