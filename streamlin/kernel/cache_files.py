"""Files of compiled kernels, checked before they are loaded.

numba unpickles what it finds, and hands it to LLVM: a file that a full disk or a crash has cut, or a bit that has
flipped, would end the process without a word. So each file begins with the SHA-256 of the rest of it, which includes
its length, and a file that does not fit is as good as none: the kernel is compiled again, and the file replaced.
"""

import fcntl
import hashlib
import io
import os
import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, NullCache

from streamlin.kernel.folders import tell_not_kept
from streamlin.kernel.loading import prepare, unpickled

_DIGEST = hashlib.sha256().digest_size
_PATIENCE, _PAUSE = 60.0, 0.01
"""Seconds to wait for another process that compiles a kernel, and between two looks."""


class CheckedFiles(IndexDataCacheFile):
    """numba's files of one function, an index and one file for each signature, each behind its digest."""

    def _load_index(self) -> Any:
        content = self._checked(self._index_path)
        if content is None:
            return {}
        file = io.BytesIO(content)
        if pickle.load(file) != self._version:
            return {}
        stamp, overloads = pickle.load(file)
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        content = self._checked(self._data_path(name))  # type: ignore[no-untyped-call]
        return None if content is None else unpickled(content)

    def _checked(self, path: str) -> bytes | None:
        """What the file holds; None if it is missing, can't be read, or is damaged."""
        try:
            with open(path, "rb") as file:
                digest, content = file.read(_DIGEST), file.read()
        except OSError:
            return None
        return content if hashlib.sha256(content).digest() == digest else None

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(hashlib.sha256(content.getbuffer()).digest())
            file.write(content.getbuffer())


_FOLDER, *_OTHERS = CompileResultCacheImpl._locator_classes


class _Folder(_FOLDER):  # type: ignore[misc,valid-type]  # untyped
    """The folder that CACHE_DIR names; unlike numba's it need not be writable, as in an image it is not."""

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            os.makedirs(self.get_cache_path(), exist_ok=True)


class _Results(CompileResultCacheImpl):
    _locator_classes = [_Folder, *_OTHERS]  # noqa: RUF012  # an attribute of its base


class Turn:
    """A lock that the process takes that compiles a kernel; others wait, and then load what it has compiled.

    It is a courtesy: where files can't be locked, and after `_PATIENCE`, a process compiles on its own.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock: int | None = None

    def take(self) -> bool:
        """Wait for the turn. False if files can't be locked here, or another process does not give it back."""
        if self._lock is not None:
            return True
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            lock = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            return False
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_PAUSE)
            except OSError:
                break
            else:
                self._lock = lock
                return True
        os.close(lock)
        return False

    def give_back(self) -> None:
        """End the turn."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class KernelCache(FunctionCache):
    """The cache of njit(cache=True), checked, and without the imports that numba makes before it loads a function.

    numba imports everything that compiling might need, scipy included, which takes a third of a short run's start-up
    time. When a function has to be compiled, the compiler imports it.
    """

    _impl_class = _Results

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        files = self._cache_file
        self._cache_file = CheckedFiles(files._cache_path, self._impl.filename_base, files._source_stamp)  # type: ignore[no-untyped-call]
        self._turn = Turn(f"{files._cache_path}/{self._impl.filename_base}.lock")

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel; where the folder can't be written to, a line says so."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            tell_not_kept(f"{self._cache_path} can't be written to: {error.strerror}")
        finally:
            self._turn.give_back()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        prepare(target_context)
        found = self._loaded(sig, target_context)
        if found is None and self._turn.take():
            found = self._loaded(sig, target_context)  # perhaps another process has compiled it meanwhile
            if found is not None:
                self._turn.give_back()
        return found

    def has(self, sig: Any, target_context: Any) -> bool:
        """Whether a compiled kernel is kept."""
        key = self._index_key(sig, target_context.codegen())  # type: ignore[no-untyped-call]
        return key in self._cache_file._load_index()  # type: ignore[no-untyped-call]

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


class NoCache(NullCache):
    """For a user without a home folder: there is no folder to keep kernels in that only this user can write to."""

    def save_overload(self, sig: Any, cres: Any) -> None:
        tell_not_kept("there is no home folder to keep compiled kernels in")
