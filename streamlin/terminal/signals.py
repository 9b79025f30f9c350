"""SIGINT and SIGTERM end a run cleanly."""

import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While entered, SIGINT and SIGTERM call `stop`; a second signal, of either kind, interrupts at once.

    `stop` runs on its own thread: a handler interrupts the main thread anywhere, even while it holds the lock that
    `stop` needs.
    """
    caught: queue.SimpleQueue[bool] = queue.SimpleQueue()  # its `put` is reentrant

    def handle(_: int, __: object) -> None:
        caught.put(True)
        for number in _SIGNALS:
            signal.signal(number, signal.default_int_handler)

    def call_stop() -> None:
        while caught.get():
            stop()

    caller = threading.Thread(target=call_stop, name="streamlin-stop", daemon=True)
    caller.start()
    old = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        caught.put(False)
        caller.join()
