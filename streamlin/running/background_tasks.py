"""Running calls in order on a worker thread."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

_MAX_PENDING = 3
"""Calls that may wait: enough to keep the thread busy, few enough to hold in memory."""


class BackgroundTasks:
    """Runs calls in order on a worker thread, while the caller continues.

    An exception is raised by the next `run` or `wait`; no call runs after it.

    threaded : False runs every call at once, on the caller's thread.
    """

    def __init__(self, threaded: bool) -> None:
        self._thread = ThreadPoolExecutor(1, "streamlin-writer") if threaded else None
        self._pending: deque[Future[None]] = deque()
        self._failed = False

    def run(self, call: Callable[..., object], *arguments: object, inline: bool = False) -> None:
        """Run a call; blocks only while too many calls wait.

        inline : on the caller's thread, after all calls before; for a short call, a thread switch would take longer.
        """
        if self._thread is None or inline:
            self.wait()
            self._attempt(call, arguments)
            return
        while self._pending and (len(self._pending) >= _MAX_PENDING or self._pending[0].done()):
            self._pending.popleft().result()
        self._pending.append(self._thread.submit(self._attempt, call, arguments))

    def wait(self) -> None:
        """Wait until all calls have run."""
        while self._pending:
            self._pending.popleft().result()

    def close(self) -> None:
        """Wait for the call that runs, and drop those that wait."""
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
