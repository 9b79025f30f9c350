"""The folders that machine code of kernels is cached in."""

import os
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from streamlin.kernel.settings import checks_bounds, wanted_folder

_MARKS = b"@kernel", b"@late_kernel", b"@inlined_kernel"
"""In sources: the decorators of kernels."""
_PACKAGE = Path(__file__).parents[1]
_HOW = "so every start compiles kernels again; NUMBA_CACHE_DIR names another folder"

_tell: Callable[[str], None] | None = None


def tell_when_not_kept(tell: Callable[[str], None]) -> None:
    """Call `tell` with a line, once, when a compiled kernel can't be kept on disk."""
    global _tell
    _tell = tell


def tell_not_kept(why: str) -> None:
    """Say that a compiled kernel can't be kept, if somebody is to be told and was not yet."""
    global _tell
    tell, _tell = _tell, None
    if tell is not None:
        tell(f"{why}, {_HOW}")


def cache_folder() -> Path | None:
    """Where the kernels of this package are kept; None: the user has no home folder."""
    return _folder(wanted_folder(), _PACKAGE)


def folder_of(function: Callable[..., object]) -> Path | None:
    """Where the kernels of the package of a function are kept; None likewise."""
    return _folder(wanted_folder(), _package_of(function))


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
    kind = f"checked-kernels{owner}" if checks_bounds() else f"kernels{owner}"
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
