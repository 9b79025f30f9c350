"""Telling the user that kernels are compiled."""

from collections.abc import Callable

from numba.core import event


class _Teller(event.Listener):
    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice, self._told = notice, False

    def on_start(self, event: object) -> None:
        if not self._told:
            self._told = True
            self._notice("compiling kernels that are new to this machine; takes some seconds")

    def on_end(self, event: object) -> None:
        pass


def notify_when_compiling(notice: Callable[[str], None]) -> None:
    """Show one line when something is really compiled; what comes from the cache on disk is not."""
    event.register("numba:compile", _Teller(notice))  # type: ignore[no-untyped-call]
