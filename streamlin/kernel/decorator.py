"""The decorators of all compiled functions.

Importing numba takes as long as all else that a short run does. So a kernel is an object that makes numba's of itself
when it is first called, or another kernel that calls it is compiled; see `streamlin.kernel.dispatchers`.
"""

import os
import sys
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from typing import Any, TypeVar, cast

from streamlin.kernel.settings import lock

Function = TypeVar("Function", bound=Callable[..., object])
_registrations: list[Callable[[], object]] = []
_DISPATCHERS = "streamlin.kernel.dispatchers"


class Kernel:
    """A function that numba compiles.

    py_func : the function.
    """

    is_inlined = False

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        update_wrapper(self, function)
        self._dispatcher: Any = None
        self._call: Callable[..., Any] = self._first_call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __repr__(self) -> str:
        return f"kernel({self.__module__}.{self.__qualname__})"

    def __reduce__(self) -> Any:
        """Pickled, and copied, by its name, as a function is."""
        return self.__qualname__

    def __getattr__(self, name: str) -> Any:
        """What numba's own object has, `_numba_type_` among it, by which numba knows the kernel in others."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    @property
    def dispatcher(self) -> Any:
        """numba's own object; the function itself if kernels are not to be compiled."""
        if self._dispatcher is None:
            with lock:
                if self._dispatcher is None:
                    from streamlin.kernel.dispatchers import dispatcher_of

                    _register_all()
                    self._dispatcher = dispatcher_of(self)
        return self._dispatcher

    def _first_call(self, *args: Any, **kwargs: Any) -> Any:
        self._call = self.dispatcher
        return self._call(*args, **kwargs)


class _InlinedKernel(Kernel):
    is_inlined = True


def kernel(function: Function) -> Function:
    """Compile a function on arrays and numbers: no GIL, cached on disk, IEEE arithmetic in the order written."""
    return cast(Function, Kernel(function))


def inlined_kernel(function: Function) -> Function:
    """Like `kernel`, for a loop that is a function of its own only for its name, or for a twin in Python.

    LLVM inlines what seems small to it. A call of anything else counts references to each array that it is given.
    """
    return cast(Function, _InlinedKernel(function))


def when_compiling(register: Callable[[], object]) -> None:
    """Have a function called once numba is imported, before it compiles or loads a kernel."""
    with lock:
        if is_compiler_loaded():
            register()
        else:
            _registrations.append(register)


def is_compiler_loaded() -> bool:
    """Whether numba was imported for a kernel."""
    return _DISPATCHERS in sys.modules


def load_compiler() -> None:
    """Import numba, unless it was."""
    import_module(_DISPATCHERS)


def is_kept(kernel: Callable[..., object]) -> bool:
    """Whether machine code of a kernel is on disk, so that a call need not wait for a compiler."""
    files = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return files is not None and os.path.exists(files._index_path)


def _register_all() -> None:
    while _registrations:
        _registrations[0]()
        del _registrations[0]
