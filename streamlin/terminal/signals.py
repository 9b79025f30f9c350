"""SIGINT, SIGTERM and SIGHUP end a run cleanly."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from streamlin.terminal.printing import print_notice

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ONE_SIGNAL = 0.02
"""Seconds in which signals are one: `timeout` and shells send one to a process and to its group."""
_DONE = 0
_INTERRUPTED = 130
"""The exit code, as of `streamlin.cli`."""
_SHOW_CURSOR = b"\x1b[?25h"


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While entered, SIGINT, SIGTERM and SIGHUP call `stop`; a second SIGINT or SIGTERM ends the process at once.

    SIGHUP comes when a terminal is closed, often twice: from the shell and from the kernel. `nohup` starts a command
    with it ignored, and then it stays so.

    Both happen on a thread of their own: a handler would interrupt the main thread anywhere, even while it holds the
    lock that `stop` needs, or would wait until it leaves compiled code.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    caller = threading.Thread(target=_call_stop, args=(stop, reading), name="streamlin-stop", daemon=True)
    caller.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    handled = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        handled.append(signal.SIGHUP)
    old = {number: signal.signal(number, lambda *_: None) for number in handled}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        os.write(writing, bytes([_DONE]))
        caller.join()
        os.close(reading)
        os.close(writing)


def _call_stop(stop: Callable[[], None], reading: int) -> None:
    """Call `stop` at the first signal whose number is read, and end the process at the second but SIGHUP."""
    first = None
    while (number := os.read(reading, 1)[0]) != _DONE:
        if number not in _SIGNALS:  # another library's
            continue
        if first is None:
            first = time.monotonic()
            stop()
        elif number != signal.SIGHUP and time.monotonic() - first > _ONE_SIGNAL:
            _end()


def _end() -> None:
    """End the process; a checkpoint and its outputs bear that at any moment."""
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)  # which the live table has hidden
    print_notice("interrupted", "error")
    os._exit(_INTERRUPTED)
