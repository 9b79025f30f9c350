"""The decorator of all compiled functions, and the folders that their machine code is cached in."""

import os
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import numba
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime.nrt import rtsys

config: Any = numba.config  # untyped
Function = TypeVar("Function", bound=Callable[..., object])

_PACKAGE = Path(__file__).parents[1]


def kernel(function: Function) -> Function:
    """Compile a function on arrays and numbers: no GIL, cached on disk, IEEE arithmetic in the order written."""
    compiled: Any = njit(nogil=True, error_model="numpy")(function)
    if config.DISABLE_JIT:
        return function
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_folder(before, _package_of(function)))
    try:
        compiled._cache = _Cache(function)  # type: ignore[no-untyped-call]
    finally:
        config.CACHE_DIR = before
    return cast(Function, compiled)


_FOLDER, *_OTHERS = CompileResultCacheImpl._locator_classes


class _Folder(_FOLDER):  # type: ignore[misc,valid-type]  # untyped
    """The folder that CACHE_DIR names; unlike numba's it need not be writable, as in an image it is not."""

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            super().ensure_cache_path()


class _Files(CompileResultCacheImpl):
    _locator_classes: ClassVar[list[Any]] = [_Folder, *_OTHERS]  # type: ignore[misc]  # an attribute of its base


class _Cache(FunctionCache):
    """The cache of njit(cache=True) without the imports that numba makes before it loads the first function.

    numba imports everything that compiling might need, scipy included, which takes a third of a short run's start-up
    time. When a function has to be compiled, the compiler imports it.
    """

    _impl_class = _Files

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel; where the folder can't be written to it is compiled again at the next start."""
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


@cache
def _folder(wanted: str, package: Path) -> Path:
    """The cache folder for a package's compiled kernels; its name contains a checksum of all kernels' sources.

    numba itself checks only the file of the outermost kernel: after a change in a kernel that it calls from another
    file, numba would load the outdated code. Other packages' kernels may call ours, so our sources are part of their
    checksum too. Folders of older checksums are deleted.
    """
    folder = Path(wanted) if wanted else _writable()
    owner = "" if package == _PACKAGE else f"-{package.name}"
    kind = f"checked-kernels{owner}" if config.BOUNDSCHECK else f"kernels{owner}"
    own = folder / f"{kind}-{_fingerprint(package):08x}"
    if not own.exists():
        for older in folder.glob(f"{kind}-" + "[0-9a-f]" * 8):
            shutil.rmtree(older, ignore_errors=True)
    return own


def _writable() -> Path:
    beside = _PACKAGE / "__pycache__"
    if os.access(beside if beside.exists() else _PACKAGE, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streamlin"


def _package_of(function: Callable[..., object]) -> Path:
    """The folder of the top-level package that defines a function; the function's file if it is in no package."""
    top = sys.modules.get(function.__module__.partition(".")[0])
    paths = list(getattr(top, "__path__", ()))
    return Path(paths[0] if paths else function.__code__.co_filename)


@cache
def _fingerprint(package: Path) -> int:
    """CRC-32 of every source that contains `@kernel`, in this package and in streamlin.

    A constant or named tuple that a kernel takes from another file is compiled into it. Such a file contains `@kernel`
    in a comment, so that it counts too.
    """
    checksum = 0
    for path in _sources(package):
        source = path.read_bytes()
        if b"@kernel" in source:
            checksum = zlib.crc32(source, zlib.crc32(path.name.encode(), checksum))
    return checksum


def _sources(package: Path) -> Iterator[Path]:
    yield from sorted(_PACKAGE.rglob("*.py"))
    if package.suffix == ".py":
        if package.exists():  # a notebook's cells have names of files that do not exist
            yield package
    elif package != _PACKAGE:
        yield from sorted(package.rglob("*.py"))
