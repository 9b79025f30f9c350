"""Doing things in order on a thread of their own."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

_MOST = 3
"""Things that may wait: enough to keep the thread busy, few enough to hold."""


class BackgroundTasks:
    """Does what it is given, one thing after the other, while the caller goes on.

    What goes wrong is raised by the next call of `do` or `wait`; nothing is done after it.

    threaded : else all is done at once, by the caller.
    """

    def __init__(self, threaded: bool) -> None:
        self._thread = ThreadPoolExecutor(1, "streamlin-writer") if threaded else None
        self._waiting: deque[Future[None]] = deque()
        self._failed = False

    def do(self, call: Callable[..., object], *arguments: object, at_once: bool = False) -> None:
        """Call it; waits only where too much waits already.

        at_once : by the caller, after all before; where it is little, that takes less time than to hand it over.
        """
        if self._thread is None or at_once:
            self.wait()
            self._attempt(call, arguments)
            return
        while self._waiting and (len(self._waiting) >= _MOST or self._waiting[0].done()):
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._attempt, call, arguments))

    def wait(self) -> None:
        """Until all is done."""
        while self._waiting:
            self._waiting.popleft().result()

    def close(self) -> None:
        """Let what is going on come to its end, and do nothing more."""
        self._failed = True
        if self._thread is not None:
            self._thread.shutdown()

    def _attempt(self, call: Callable[..., object], arguments: tuple[object, ...]) -> None:
        if self._failed:
            return
        try:
            call(*arguments)
        except BaseException:
            self._failed = True
            raise
