"""Kernels that Python runs as they are written: of the first few events, and until another process has compiled them.

For a thousand texts Python hashes, learns and counts in less time than compiling would take, so that a first start
waits for nothing; for some events, in less time than numba takes to be imported.

Results are the same to the bit. Therefore such a kernel makes 64-bit numbers of others before it computes with them,
and its exponentials and logarithms are the C library's, as in compiled code; numpy's may round differently.
"""

import ctypes
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, Protocol, cast

import numpy as np

from streamlin.kernel.compiled_forms import Intrinsic
from streamlin.kernel.decorator import Function, Kernel, is_compiler_loaded, load_compiler
from streamlin.kernel.folders import cache_folder

LONGEST = 7.0
"""Seconds of a processor that all such calls may take; then the run compiles what is not compiled yet, too."""
FEW_EVENTS, FEW_CHARACTERS, SHORTEST = 50, 10_000, 0.5
"""Events, characters, and seconds of all such calls, up to which numba is not imported."""
ALONE = "streamlin-compiles-alone"
"""The option `-X` of an interpreter that leaves nothing to another process or to Python, but compiles what it calls."""


class Compiling(Protocol):
    """What starts another process that compiles."""

    def is_compiling(self) -> bool:
        """Whether it still compiles; it is started, unless it was."""


class _Nobody:
    """What compiles nothing: only of the first few events does Python run late kernels."""

    def is_compiling(self) -> bool:
        """No."""
        return False


class _Reliance:
    """What compiles late kernels, for how long Python has run them, and what it has been told to expect."""

    compiling: Compiling | None = None
    seconds = 0.0
    events = characters = 0

    def is_sound(self) -> bool:
        """Whether to rely on it."""
        return self.compiling is not None and self.seconds <= LONGEST and self.compiling.is_compiling()

    def is_short(self) -> bool:
        """Whether the run has been short so far, with nothing that numba was imported for."""
        is_little = self.events <= FEW_EVENTS and self.characters <= FEW_CHARACTERS and self.seconds <= SHORTEST
        return is_little and not is_compiler_loaded()


_reliance = _Reliance()


def rely_on(compiling: Compiling | None) -> None:
    """A run begins that another process compiles late kernels for. None: no kernel is run by Python from now on."""
    _reliance.compiling, _reliance.seconds = (None if ALONE in sys._xoptions else compiling), 0.0
    _reliance.events = _reliance.characters = 0


@contextmanager
def few_by_python() -> Iterator[None]:
    """Python runs late kernels for the first few events; until `rely_on`, others are compiled in this process."""
    rely_on(_Nobody())
    try:
        yield
    finally:
        rely_on(None)


def expect(texts: Sequence[str]) -> None:
    """These are about to be hashed, and to be learned or predicted."""
    if _reliance.is_short():
        _reliance.events += len(texts)
        _reliance.characters += sum(map(len, texts[:FEW_EVENTS]))


def use_idle_time() -> None:
    """While a run waits for events: import numba, so that the next ones need not wait for it."""
    if _reliance.compiling is not None:
        load_compiler()


def is_run_by_python(is_kept: Callable[[], bool]) -> bool:
    """Whether Python is to run a kernel now. is_kept : whether it is on disk, or can't be."""
    if _reliance.compiling is None or not _is_safe():
        return False
    return _reliance.is_short() or (not is_kept() and _reliance.is_sound())


@cache
def _is_safe() -> bool:
    """Whether Python computes as compiled code does: where it is, numba uses the `exp` of Intel's vector library."""
    try:
        ctypes.CDLL("libsvml.so")
    except OSError:
        return True
    return False


class LateKernel(Kernel):
    """A kernel that Python runs while `is_run_by_python` says so."""

    def _first_call(self, *args: Any, **kwargs: Any) -> Any:
        if not is_compiler_loaded() and is_run_by_python(_is_anything_kept):
            return self.timed(*args, **kwargs)
        return super()._first_call(*args, **kwargs)

    def timed(self, *args: Any, **kwargs: Any) -> Any:
        """Python's call, which is timed."""
        begin = time.thread_time()
        try:
            with np.errstate(all="ignore"):  # as compiled code does
                return in_python(cast(Any, self))(*args, **kwargs)
        finally:
            _reliance.seconds += time.thread_time() - begin


def _is_anything_kept() -> bool:
    """Whether any kernel is on disk, or none can be; only numba knows which files are those of a kernel."""
    folder = cache_folder()
    return folder is None or next(folder.rglob("*.nbi"), None) is not None


def late_kernel(function: Function) -> Function:
    """Like `kernel`, but while the run relies on another process to compile the function, Python runs it.

    So it does for the first few events of a run, if these are all that came.
    """
    return cast(Function, LateKernel(function))


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
    function = kernel.py_func if isinstance(kernel, Kernel | Intrinsic) else kernel
    if isinstance(function, Kernel):  # an intrinsic's
        function = function.py_func
    if function in _twins:
        return _twins[function]
    assert isinstance(function, FunctionType)
    names = function.__code__.co_names
    known = {name: function.__globals__[name] for name in names if name in function.__globals__}
    own: dict[str, Any] = {
        name: in_python(value) for name, value in known.items() if isinstance(value, Kernel | Intrinsic)
    }
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
