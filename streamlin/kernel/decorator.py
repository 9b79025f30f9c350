"""The decorator of all compiled functions, and the folders that their machine code is cached in."""

import os
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core.registry import CPUDispatcher, cpu_target

from streamlin.kernel.cache_files import KernelCache, NoCache
from streamlin.kernel.inner import translate_entries_alone

config: Any = numba.config  # untyped
Function = TypeVar("Function", bound=Callable[..., object])

_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "boundscheck": None,  # as NUMBA_BOUNDSCHECK says
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nobody calls kernels from C
}
_INNER_OPTIONS = _OPTIONS | {"no_cpython_wrapper": True}
_MARKS = b"@kernel", b"@late_kernel", b"@inlined_kernel"
"""In sources: the decorators of kernels."""
_PACKAGE = Path(__file__).parents[1]
translate_entries_alone(cpu_target.target_context)


class Kernel(CPUDispatcher):
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


class _InlinedKernel(Kernel):
    _inner_options = _INNER_OPTIONS | {"forceinline": True}


def kernel(function: Function) -> Function:
    """Compile a function on arrays and numbers: no GIL, cached on disk, IEEE arithmetic in the order written."""
    return decorated(function, Kernel)


def inlined_kernel(function: Function) -> Function:
    """Like `kernel`, for a loop that is a function of its own only for its name, or for a twin in Python.

    LLVM inlines what seems small to it. A call of anything else counts references to each array that it is given.
    """
    return decorated(function, _InlinedKernel)


def decorated(function: Function, kind: type[Kernel]) -> Function:
    """A function as a kernel of a kind."""
    if config.DISABLE_JIT:
        return function
    compiled: Any = kind(function, targetoptions=_OPTIONS)
    before = config.CACHE_DIR
    folder = _folder(before, _package_of(function))
    config.CACHE_DIR = str(folder)
    try:
        compiled._cache = NoCache() if folder is None else KernelCache(function)
    finally:
        config.CACHE_DIR = before
    return cast(Function, compiled)


def cache_folder() -> Path | None:
    """Where the kernels of this package are kept; None: the user has no home folder."""
    return _folder(config.CACHE_DIR, _PACKAGE)


@cache
def _folder(wanted: str, package: Path) -> Path | None:
    """The cache folder for a package's compiled kernels; its name contains a checksum of all kernels' sources.

    numba itself checks only the file of the outermost kernel: after a change in a kernel that it calls from another
    file, numba would load the outdated code. Other packages' kernels may call ours, so our sources are part of their
    checksum too. Folders of older checksums are deleted. None: the user has no home folder.
    """
    folder = Path(wanted) if wanted else _writable()
    if folder is None:
        return None
    owner = "" if package == _PACKAGE else f"-{package.name}"
    kind = f"checked-kernels{owner}" if config.BOUNDSCHECK else f"kernels{owner}"
    own = folder / f"{kind}-{_fingerprint(package):08x}"
    with suppress(OSError):  # a folder that may not be entered
        if not own.exists():
            for older in folder.glob(f"{kind}-" + "[0-9a-f]" * 8):
                shutil.rmtree(older, ignore_errors=True)
    return own


def _writable() -> Path | None:
    beside = _PACKAGE / "__pycache__"
    if os.access(beside if beside.exists() else _PACKAGE, os.W_OK):
        return beside
    named, home = os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~")
    if named or os.path.isabs(home):
        return Path(named or f"{home}/.cache") / "streamlin"
    return None


def _package_of(function: Callable[..., object]) -> Path:
    """The folder of the top-level package that defines a function; the function's file if it is in no package."""
    top = sys.modules.get(function.__module__.partition(".")[0])
    paths = list(getattr(top, "__path__", ()))
    return Path(paths[0] if paths else function.__code__.co_filename)


@cache
def _fingerprint(package: Path) -> int:
    """CRC-32 of every source with the decorator of a kernel, in this package and in streamlin.

    A constant or named tuple that a kernel takes from another file is compiled into it. Such a file contains `@kernel`
    in a comment, so that it counts too.
    """
    checksum = 0
    for path in _sources(package):
        source = path.read_bytes()
        if any(mark in source for mark in _MARKS):
            checksum = zlib.crc32(source, zlib.crc32(path.name.encode(), checksum))
    return checksum


def _sources(package: Path) -> Iterator[Path]:
    yield from sorted(_PACKAGE.rglob("*.py"))
    if package.suffix == ".py":
        if package.exists():  # a notebook's cells have names of files that do not exist
            yield package
    elif package != _PACKAGE:
        yield from sorted(package.rglob("*.py"))
