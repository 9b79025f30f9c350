"""Notices to the user about compiled kernels."""

from collections.abc import Callable

from numba.core import event

from streamlin.errors import ConfigError
from streamlin.kernel.cache_files import tell_when_not_kept
from streamlin.kernel.decorator import config


class _CompileListener(event.Listener):
    def __init__(self, notice: Callable[[str], None], compiling: Callable[[], object]) -> None:
        self._notice, self._compiling, self._shown = notice, compiling, False

    def on_start(self, event: object) -> None:
        if not self._shown:
            self._shown = True
            self._notice("compiling kernels that are new to this machine; takes some seconds")
            self._compiling()

    def on_end(self, event: object) -> None:
        pass


def notify_when_compiling(notice: Callable[[str], None], compiling: Callable[[], object] = lambda: None) -> None:
    """Show one line when a kernel is compiled, and one when it can't be kept on disk.

    compiling : called when the first kernel is compiled.

    Raises
    ------
    ConfigError : kernels are not to be compiled at all. numpy, whose `exp` they then call, may round differently, so
        that a checkpoint need not be the same to the bit.
    """
    if config.DISABLE_JIT:
        raise ConfigError(
            "NUMBA_DISABLE_JIT: kernels as plain Python are for a debugger: a hundred times slower, and perhaps "
            "rounded differently; unset it"
        )
    tell_when_not_kept(notice)
    event.register("numba:compile", _CompileListener(notice, compiling))  # type: ignore[no-untyped-call]
