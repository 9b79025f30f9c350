"""SIGINT, SIGTERM and SIGHUP end a run cleanly."""

import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While entered, SIGINT, SIGTERM and SIGHUP call `stop`; a second SIGINT or SIGTERM interrupts at once.

    SIGHUP comes when a terminal is closed, often twice: from the shell and from the kernel. `nohup` starts a command
    with it ignored, and then it stays so.

    `stop` runs on its own thread: a handler interrupts the main thread anywhere, even while it holds the lock that
    `stop` needs.
    """
    caught: queue.SimpleQueue[bool] = queue.SimpleQueue()  # its `put` is reentrant

    def handle(_: int, __: object) -> None:
        caught.put(True)
        for number in _SIGNALS:
            signal.signal(number, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def call_stop() -> None:
        while caught.get():
            stop()

    caller = threading.Thread(target=call_stop, name="streamlin-stop", daemon=True)
    caller.start()
    old = {number: signal.signal(number, handle) for number in _SIGNALS}
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        old[signal.SIGHUP] = signal.signal(signal.SIGHUP, handle)
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        caught.put(False)
        caller.join()
