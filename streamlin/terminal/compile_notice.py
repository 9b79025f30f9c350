"""Notices to the user about compiled kernels."""

from collections.abc import Callable
from functools import partial

from streamlin.errors import ConfigError
from streamlin.kernel.decorator import when_compiling
from streamlin.kernel.folders import tell_when_not_kept
from streamlin.kernel.settings import interprets


def notify_when_compiling(notice: Callable[[str], None], compiling: Callable[[], object] = lambda: None) -> None:
    """Show one line when a kernel is compiled, and one when it can't be kept on disk.

    compiling : called when the first kernel is compiled.

    Raises
    ------
    ConfigError : kernels are not to be compiled at all. numpy, whose `exp` they then call, may round differently, so
        that a checkpoint need not be the same to the bit.
    """
    if interprets():
        raise ConfigError(
            "NUMBA_DISABLE_JIT: kernels as plain Python are for a debugger: a hundred times slower, and perhaps "
            "rounded differently; unset it"
        )
    tell_when_not_kept(notice)
    when_compiling(partial(_listen, notice, compiling))


def _listen(notice: Callable[[str], None], compiling: Callable[[], object]) -> None:
    from numba.core import event

    class Listener(event.Listener):
        shown = False

        def on_start(self, event: object) -> None:
            if not self.shown:
                self.shown = True
                notice("compiling kernels that are new to this machine; takes some seconds")
                compiling()

        def on_end(self, event: object) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
