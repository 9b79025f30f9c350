"""Calls that share no state, run side by side."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor


class SideBySide:
    """Runs calls on the caller's thread and on others, which pay where most of a call is a kernel: it holds no GIL.

    threads : with the caller's.
    """

    def __init__(self, threads: int) -> None:
        self._others = threads - 1
        self._pool = ThreadPoolExecutor(self._others, "streamlin-learner") if self._others else None

    def run(self, calls: Iterable[Callable[[], object]]) -> None:
        """Run all calls, in any order; an exception is raised once all threads are done."""
        waiting = deque(calls)
        if self._pool is None or len(waiting) < 2:
            _work(waiting)
            return
        others = [self._pool.submit(_work, waiting) for _ in range(min(self._others, len(waiting) - 1))]
        try:
            _work(waiting)
        finally:
            waiting.clear()
            for other in others:
                other.result()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()


def _work(waiting: deque[Callable[[], object]]) -> None:
    """Run calls until none waits."""
    while waiting:
        try:
            call = waiting.popleft()
        except IndexError:  # another thread took the last one
            return
        call()
