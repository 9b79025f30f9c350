"""The one decorator that all compiled code goes through."""

import os
import shutil
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import njit
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

config: Any = numba.config  # it has no types
Function = TypeVar("Function", bound=Callable[..., object])

_PACKAGE = Path(__file__).parent


def kernel(function: Function) -> Function:
    """Compile a function on arrays and numbers; no GIL, kept on disk, IEEE arithmetic in the order written."""
    compiled: Any = njit(nogil=True, error_model="numpy")(function)
    if config.DISABLE_JIT:
        return function
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_folder(before))
    try:
        compiled._cache = _Cache(function)  # type: ignore[no-untyped-call]
    finally:
        config.CACHE_DIR = before
    return cast(Function, compiled)


class _Cache(FunctionCache):
    """What njit(cache=True) has, but for what it does before it loads the first function.

    It imports all that compiling might need, scipy among it: of a short run's start that is a third. Where a function
    has to be compiled the compiler does that itself.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


@cache
def _folder(wanted: str) -> Path:
    """Where compiled kernels are kept: a folder for this state of all kernels' sources.

    numba itself looks only at the file of the outermost kernel: after a change in one that it calls, it would go on
    with the old one.
    """
    folder = Path(wanted) if wanted else _writable()
    kind = "checked-kernels" if config.BOUNDSCHECK else "kernels"
    own = folder / f"{kind}-{_fingerprint():08x}"
    if not own.exists():
        for older in folder.glob(f"{kind}-*"):
            shutil.rmtree(older, ignore_errors=True)
    return own


def _writable() -> Path:
    beside = _PACKAGE / "__pycache__"
    if os.access(beside if beside.exists() else _PACKAGE, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streamlin"


def _fingerprint() -> int:
    """Of every source that holds a kernel."""
    checksum = 0
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source:
            checksum = zlib.crc32(source, zlib.crc32(path.name.encode(), checksum))
    return checksum
