"""Kernels that Python runs as they are written, until another process has compiled them.

What hashes and what only counts does little for an event: for a thousand events Python does it in less time than
compiling would take, so that a first start waits only for what learns.

Results are the same to the bit. Therefore such a kernel computes with 64-bit numbers, and takes `exp` and `log` from
`math`: like compiled code they call the C library's, while numpy's may round differently.
"""

import math
import time
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, Protocol

import numpy as np
from numba import typeof

from streamlin.kernel.cache_files import KernelCache
from streamlin.kernel.decorator import Function, Kernel, config, decorated
from streamlin.kernel.loading import IS_TESTED, is_kept

LONGEST = 3.0
"""Seconds that all such calls may take together; then the run compiles what is not compiled yet, too."""
_IS_SAFE = IS_TESTED and not config.USING_SVML
"""Intel's library of vectors, where numba finds it, has an `exp` of its own."""


class Compiling(Protocol):
    """What starts another process that compiles."""

    def is_compiling(self) -> bool:
        """Whether it still compiles; it is started, unless it was."""


class _Reliance:
    """What compiles late kernels, and for how long Python has run them."""

    compiling: Compiling | None = None
    seconds = 0.0

    def is_sound(self) -> bool:
        """Whether to rely on it."""
        return self.compiling is not None and self.seconds <= LONGEST and self.compiling.is_compiling()


_reliance = _Reliance()


def rely_on(compiling: Compiling | None) -> None:
    """From now on another process compiles late kernels; None: none does."""
    _reliance.compiling, _reliance.seconds = compiling, 0.0


class _LateKernel(Kernel):
    _cache: Any
    targetctx: Any

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """What numba calls for arguments of new types; it then calls what is returned."""
        if _IS_SAFE and not self._is_kept(*args) and _reliance.is_sound():
            return self._timed
        return super()._compile_for_args(*args, **kws)  # type: ignore[misc]  # untyped

    def _is_kept(self, *args: Any) -> bool:
        """Whether machine code for such arguments is on disk, or can't be."""
        if not isinstance(cache := self._cache, KernelCache):
            return True
        return is_kept(self) and cache.has(tuple(map(typeof, args)), self.targetctx)

    def _timed(self, *args: Any) -> Any:
        begin = time.perf_counter()
        try:
            with np.errstate(all="ignore"):  # as compiled code does
                return in_python(self)(*args)
        finally:
            _reliance.seconds += time.perf_counter() - begin


def late_kernel(function: Function) -> Function:
    """Like `kernel`, but while the run relies on another process to compile the function, Python runs it."""
    return decorated(function, _LateKernel)


def beside(twin: Callable[..., Any]) -> Callable[[Function], Function]:
    """Below `@late_kernel` or `@kernel`: where Python runs the function, it runs the twin, which is faster there."""

    def marked(function: Function) -> Function:
        _twins[function] = twin
        return function

    return marked


_twins: dict[Callable[..., object], Callable[..., Any]] = {}


@cache
def in_python(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel's function, or its twin, that calls no kernels but what is written in them."""
    function = kernel.py_func if isinstance(kernel, Kernel) else kernel
    if function in _twins:
        return _twins[function]
    assert isinstance(function, FunctionType)
    names = function.__code__.co_names
    known = {name: function.__globals__[name] for name in names if name in function.__globals__}
    own = {name: in_python(value) for name, value in known.items() if isinstance(value, Kernel)}
    if "exp" in known:
        own["exp"] = exp_like_c
    return FunctionType(function.__code__, {**function.__globals__, **own}, function.__name__)


def exp_like_c(x: float) -> float:
    """e^x; infinity where `math.exp` raises."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
