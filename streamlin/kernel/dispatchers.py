"""numba's object of each `@kernel`."""

from functools import cached_property, partial
from typing import Any

import numba
from numba import typeof, types
from numba.core.registry import CPUDispatcher, cpu_target

from streamlin.kernel.cache_files import KernelCache, NoCache
from streamlin.kernel.decorator import Kernel, is_kept
from streamlin.kernel.folders import folder_of
from streamlin.kernel.inner import translate_entries_alone
from streamlin.kernel.late import LateKernel, is_run_by_python
from streamlin.kernel.loading import IS_TESTED
from streamlin.kernel.settings import interprets

_config: Any = numba.config  # untyped
_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "boundscheck": None,  # as NUMBA_BOUNDSCHECK says
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nobody calls kernels from C
}
_INNER_OPTIONS = _OPTIONS | {"no_cpython_wrapper": True}
translate_entries_alone(cpu_target.target_context)


class _Dispatcher(CPUDispatcher):
    """A function with an entry from Python; kernels call its twin, which has none."""

    _inner_options = _INNER_OPTIONS

    @cached_property
    def _inner(self) -> Any:
        return CPUDispatcher(self.py_func, targetoptions=self._inner_options)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How numba finds the type of a call in a kernel.

        Without this, a function would be compiled once for each constant integer that it is called with.
        """
        integers = types.IntegerLiteral
        args = tuple(arg.literal_type if isinstance(arg, integers) else arg for arg in args)
        return self._inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """How numba finds what a call in a kernel calls."""
        return self._inner.get_overload(sig)


class _InlinedDispatcher(_Dispatcher):
    _inner_options = _INNER_OPTIONS | {"forceinline": True}


class _LateDispatcher(_Dispatcher):
    kernel: LateKernel
    _cache: Any
    targetctx: Any

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """What numba calls for arguments of new types; it then calls what is returned."""
        if IS_TESTED and is_run_by_python(partial(self._is_kept, *args)):
            return self.kernel.timed
        return super()._compile_for_args(*args, **kws)  # type: ignore[misc]  # untyped

    def _is_kept(self, *args: Any) -> bool:
        """Whether machine code for such arguments is on disk, or can't be."""
        if not isinstance(cache := self._cache, KernelCache):
            return True
        return is_kept(self.kernel) and cache.has(tuple(map(typeof, args)), self.targetctx)


def dispatcher_of(kernel: Kernel) -> Any:
    """A new one, with its cache on disk; the kernel's function if kernels are not to be compiled."""
    function = kernel.py_func
    if interprets():
        return function
    kind = _kind(kernel)
    dispatcher: Any = kind(function, targetoptions=_OPTIONS)
    if kind is _LateDispatcher:
        dispatcher.kernel = kernel
    before, folder = _config.CACHE_DIR, folder_of(function)
    _config.CACHE_DIR = str(folder)
    try:
        dispatcher._cache = NoCache() if folder is None else KernelCache(function)
    finally:
        _config.CACHE_DIR = before
    return dispatcher


def _kind(kernel: Kernel) -> type[_Dispatcher]:
    if isinstance(kernel, LateKernel):
        return _LateDispatcher
    return _InlinedDispatcher if kernel.is_inlined else _Dispatcher
