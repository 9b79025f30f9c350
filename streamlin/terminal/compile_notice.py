"""A notice to the user that kernels are being compiled."""

from collections.abc import Callable

from numba.core import event


class _CompileListener(event.Listener):
    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice, self._shown = notice, False

    def on_start(self, event: object) -> None:
        if not self._shown:
            self._shown = True
            self._notice("compiling kernels that are new to this machine; takes some seconds")

    def on_end(self, event: object) -> None:
        pass


def notify_when_compiling(notice: Callable[[str], None]) -> None:
    """Show one line when a kernel is compiled; loading one from the cache on disk shows nothing."""
    event.register("numba:compile", _CompileListener(notice))  # type: ignore[no-untyped-call]
