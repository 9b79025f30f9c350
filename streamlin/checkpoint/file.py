"""The folder of a checkpoint: one atomic file that holds everything a run needs to resume, and the one before it."""

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from streamlin.checkpoint.layout import Arrays, Expect, UnexpectedError, is_whole, read, write
from streamlin.errors import CheckpointError, ConnectorError
from streamlin.sharding.plan_log import FILES as PLANS
from streamlin.storage.own_files import OWN, make_folder, open_file

CURRENT, PREVIOUS = "checkpoint.safetensors", "previous.safetensors"
_NEW, _LINK, _LOCK = "checkpoint.new", "link.new", "lock"
FILES = (CURRENT, PREVIOUS, _NEW, _LINK, _LOCK, *PLANS)
"""All files that a checkpoint's folder may have."""


class Checkpoint:
    """A folder with the current checkpoint and the one before it, held by one process at a time.

    mode : permissions of the files, see `streamlin.storage.own_files`.

    Raises
    ------
    CheckpointError : another process holds the folder.
    ConnectorError : the folder can't be written to.
    """

    def __init__(self, folder: str | Path, mode: int = OWN) -> None:
        self.folder, self._mode = Path(folder), mode
        with _writing(self.folder):
            make_folder(self.folder, mode)
            self._lock = open_file(self.folder / _LOCK, os.O_RDWR, mode)  # held until close
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise CheckpointError(f"{self.folder} is in use by another streamlin process") from None
            raise CheckpointError(
                f"{self.folder} can't be locked: {os.strerror(error.errno or 0)}; without a lock two processes could "
                "write there: put the checkpoint on a file system with locks"
            ) from None

    def exists(self, previous: bool = False) -> bool:
        """Whether there is a checkpoint to resume from, or one is missing that should be there (`load` then raises)."""
        return previous or (self.folder / CURRENT).exists() or (self.folder / PREVIOUS).exists()

    def written(self, previous: bool = False) -> float:
        """When the current (or previous) checkpoint was written, in Unix seconds."""
        return (self.folder / (PREVIOUS if previous else CURRENT)).stat().st_mtime

    def save(self, arrays: Arrays, state: Mapping[str, Any], contents: Iterable[memoryview] | None = None) -> None:
        """Write a new current checkpoint; the last one becomes the previous one. contents : see `write`.

        Atomic: whenever the process or the machine stops, there is a whole current checkpoint, the old or the new one.
        """
        new, current, previous = (self.folder / name for name in (_NEW, CURRENT, PREVIOUS))
        with _writing(self.folder):
            try:
                new.unlink(missing_ok=True)  # left by a kill, or planted
                with open(open_file(new, os.O_WRONLY | os.O_EXCL, self._mode), "wb") as file:
                    write(file, arrays, state, contents)
                    file.flush()
                    os.fsync(file.fileno())
                if current.exists():
                    self._link(current, previous)
                new.replace(current)
            except OSError:
                with contextlib.suppress(OSError):
                    new.unlink(missing_ok=True)
                raise
            self._sync_folder()

    def restore_previous(self) -> None:
        """Make the previous checkpoint the current one."""
        with _writing(self.folder):
            self._link(self.folder / PREVIOUS, self.folder / CURRENT)
            self._sync_folder()

    def _link(self, path: Path, other: Path) -> None:
        """Make `other` the same checkpoint as `path`, atomically."""
        new = self.folder / _LINK
        new.unlink(missing_ok=True)
        try:
            os.link(path, new)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
                raise
            copy = open_file(new, os.O_WRONLY | os.O_EXCL, self._mode)
            with path.open("rb") as source, open(copy, "wb") as target:  # a file system without links, such as FAT
                shutil.copyfileobj(source, target)
        new.replace(other)

    def load(
        self, previous: bool = False, expect: Expect | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The arrays and the state of the current (or previous) checkpoint. expect : see `read`."""
        return load(self.folder, previous, expect)

    def close(self) -> None:
        """Release the folder for other processes."""
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def _sync_folder(self) -> None:
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def load(
    folder: str | Path, previous: bool = False, expect: Expect | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the state of a folder's checkpoint; needs no lock, since files are replaced whole.

    expect : see `read`.

    Raises
    ------
    CheckpointError : it is missing, damaged, or of an unknown version; says so if the previous checkpoint is whole.
    """
    path = Path(folder) / (PREVIOUS if previous else CURRENT)
    try:
        return read(path, expect)
    except UnexpectedError:
        raise
    except CheckpointError as error:
        if previous or not is_whole(Path(folder) / PREVIOUS):
            raise
        raise CheckpointError(f"{error}; the checkpoint before it is whole: --previous resumes from it") from None


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConnectorError(f"can't write the checkpoint in {folder}: {error.strerror}") from None
