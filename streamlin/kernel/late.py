"""Kernels that Python runs as they are written, until another process has compiled them.

For a thousand texts Python hashes, learns and counts in less time than compiling would take, so that a first start
waits for nothing.

Results are the same to the bit. Therefore such a kernel makes 64-bit numbers of others before it computes with them,
and its exponentials and logarithms are the C library's, as in compiled code; numpy's may round differently.
"""

import math
import time
from collections.abc import Callable
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, Protocol

import numpy as np
from numba import typeof

from streamlin.kernel.cache_files import KernelCache
from streamlin.kernel.decorator import Function, Kernel, config, decorated
from streamlin.kernel.loading import IS_TESTED, is_kept

LONGEST = 7.0
"""Seconds of a processor that all such calls may take; then the run compiles what is not compiled yet, too."""
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
        begin = time.thread_time()
        try:
            with np.errstate(all="ignore"):  # as compiled code does
                return in_python(self)(*args)
        finally:
            _reliance.seconds += time.thread_time() - begin


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
    own: dict[str, Any] = {name: in_python(value) for name, value in known.items() if isinstance(value, Kernel)}
    if "exp" in known:
        own["exp"] = exp_like_c
    if known.get("np") is np:
        own["np"] = _numpy_like_c()
    return FunctionType(function.__code__, {**function.__globals__, **own}, function.__name__)


@cache
def _numpy_like_c() -> ModuleType:
    """numpy, but with exponentials and logarithms of one number at a time, which are the C library's."""
    module = ModuleType("numpy")
    vars(module).update(vars(np))
    for name, function in (("exp", exp_like_c), ("exp2", _exp2_like_c), ("log", log_like_c)):
        setattr(module, name, _of_float64(function))
    return module


def _of_float64(function: Callable[[float], float]) -> Callable[[float], np.float64]:
    """Its results can be divided by 0, unlike Python's numbers."""
    return lambda x: np.float64(function(x))


def exp_like_c(x: float) -> float:
    """e^x; infinity where `math.exp` raises."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _exp2_like_c(x: float) -> float:
    """2^x, likewise."""
    try:
        return math.exp2(x)
    except OverflowError:
        return math.inf


def log_like_c(x: float) -> float:
    """The natural logarithm; minus infinity of 0 and NaN below, where `math.log` raises."""
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan
