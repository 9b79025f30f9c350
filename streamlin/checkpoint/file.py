"""One atomic, versioned file that holds everything a run needs to resume.

The layout is that of safetensors: the header's length (8 bytes, little-endian), the header (JSON), the arrays' bytes.
The header's `__metadata__` holds the state as JSON text, and a CRC-32 of everything else. It never uses pickle.
"""

import contextlib
import errno
import fcntl
import json
import math
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import CheckpointError, ConnectorError

VERSION = 1
CURRENT, PREVIOUS = "checkpoint.safetensors", "previous.safetensors"
_NEW, _LINK, _LOCK = "checkpoint.new", "link.new", "lock"
FILES = (CURRENT, PREVIOUS, _NEW, _LINK, _LOCK)
"""All files that a checkpoint's folder may have."""
_TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "BOOL": "|b1", "U16": "<u2", "U8": "|u1"}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}
_BLOCK = 1 << 22

Arrays = Mapping[str, NDArray[Any]]


class Checkpoint:
    """A folder with the current checkpoint and the one before it, held by one process at a time.

    Raises
    ------
    CheckpointError : another process holds the folder.
    ConnectorError : the folder can't be written to.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        with _writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = open(self.folder / _LOCK, "a+b")  # noqa: SIM115  # held until close
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise CheckpointError(f"{self.folder} is in use by another streamlin process") from None

    def exists(self, previous: bool = False) -> bool:
        """Whether there is a checkpoint to resume from, or one is missing that should be there (`load` then raises)."""
        return previous or (self.folder / CURRENT).exists() or (self.folder / PREVIOUS).exists()

    def written(self, previous: bool = False) -> float:
        """When the current (or previous) checkpoint was written, in Unix seconds."""
        return (self.folder / (PREVIOUS if previous else CURRENT)).stat().st_mtime

    def save(self, arrays: Arrays, state: Mapping[str, Any]) -> None:
        """Write a new current checkpoint; the last one becomes the previous one.

        Atomic: whenever the process or the machine stops, there is a whole current checkpoint, the old or the new one.
        """
        new, current, previous = (self.folder / name for name in (_NEW, CURRENT, PREVIOUS))
        with _writing(self.folder):
            try:
                with new.open("wb") as file:
                    write(file, arrays, state)
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
            shutil.copyfile(path, new)  # a file system without links, such as FAT
        new.replace(other)

    def load(self, previous: bool = False) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The arrays and the state of the current (or previous) checkpoint."""
        return load(self.folder, previous)

    def close(self) -> None:
        """Release the folder for other processes."""
        self._lock.close()

    def _sync_folder(self) -> None:
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def load(folder: str | Path, previous: bool = False) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the state of a folder's checkpoint; needs no lock, since files are replaced whole.

    Raises
    ------
    CheckpointError : it is missing, damaged, or of an unknown version; says so if the previous checkpoint is whole.
    """
    path = Path(folder) / (PREVIOUS if previous else CURRENT)
    try:
        return read(path)
    except CheckpointError as error:
        if previous or not _is_whole(Path(folder) / PREVIOUS):
            raise
        raise CheckpointError(f"{error}; the checkpoint before it is whole: --previous resumes from it") from None


def write(file: BinaryIO, arrays: Arrays, state: Mapping[str, Any]) -> None:
    """Write arrays and state (JSON-able) to a binary file."""
    table, offset = {}, 0
    for name, array in arrays.items():
        table[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    about = {"format": "streamlin", "version": str(VERSION), "state": json.dumps(state)}
    checksum = _checksum(table, about)
    for array in arrays.values():
        for block in _blocks(array):
            checksum = zlib.crc32(block, checksum)
    header = json.dumps({"__metadata__": about | {"crc32": f"{checksum:08x}"}} | table).encode()
    header += b" " * (-len(header) % 8)
    file.write(len(header).to_bytes(8, "little") + header)
    for array in arrays.values():
        for block in _blocks(array):
            file.write(block)


def read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the state of one file, verified."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= size - 8:
                raise CheckpointError(f"{path} is damaged: its header is cut off")
            table = json.loads(file.read(length))
            about = table.pop("__metadata__", {})
            if about.get("format") != "streamlin":
                raise CheckpointError(f"{path} is not a streamlin checkpoint")
            if about["version"] != str(VERSION):
                raise CheckpointError(f"{path} has version {about['version']}: expected version {VERSION}")
            arrays = {name: _read_array(file, entry) for name, entry in table.items()}
            if file.read(1):
                raise CheckpointError(f"{path} is damaged: it is longer than its header says")
        checksum = _checksum(table, {key: about[key] for key in ("format", "version", "state")})
        for array in arrays.values():
            checksum = zlib.crc32(_bytes(array), checksum)
        if f"{checksum:08x}" != about["crc32"]:
            raise CheckpointError(f"{path} is damaged: its checksum is {checksum:08x}, expected {about['crc32']}")
        return arrays, json.loads(about["state"])
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint in {path.parent}") from None
    except OSError as error:
        raise CheckpointError(f"can't read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from None


def differing(fingerprint: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> str | None:
    """The first dotted key at which two configurations differ, with both values; None if they are equal."""
    keys = sorted({*fingerprint, *other}, key=lambda key: (key != "task", key))  # a task brings defaults of its own
    for key in keys:
        ours, theirs = fingerprint.get(key), other.get(key)
        if ours == theirs:
            continue
        if key == "learners" and isinstance(ours, list) and isinstance(theirs, list):
            ours, theirs = ({learner["name"]: learner for learner in learners} for learners in (ours, theirs))
            if list(ours) != list(theirs):
                return f"learners: {', '.join(theirs)} in the checkpoint, {', '.join(ours)} now"
        if isinstance(ours, dict) and isinstance(theirs, dict):
            deeper = differing(ours, theirs, f"{prefix}{key}.")
            if deeper is None:
                continue
            return deeper
        return f"{prefix}{key}: {json.dumps(theirs)} in the checkpoint, {json.dumps(ours)} now"
    return None


def _is_whole(path: Path) -> bool:
    with contextlib.suppress(CheckpointError):
        read(path)
        return True
    return False


def _checksum(table: Mapping[str, Any], about: Mapping[str, str]) -> int:
    return zlib.crc32(json.dumps([table, about], sort_keys=True).encode())


def _blocks(array: NDArray[Any]) -> Iterator[memoryview]:
    """The array's rows in contiguous blocks of a few MiB; a table with spare columns is never copied as a whole."""
    if array.nbytes == 0:
        return
    array = np.atleast_1d(array)
    step = max(1, _BLOCK // max(1, array.nbytes // array.shape[0]))
    for begin in range(0, array.shape[0], step):
        yield _bytes(np.ascontiguousarray(array[begin : begin + step]))


def _bytes(array: NDArray[Any]) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # a buffer, from Python 3.12 on


def _read_array(file: BufferedReader, entry: Mapping[str, Any]) -> NDArray[Any]:
    shape, kind = entry["shape"], np.dtype(_TYPES[entry["dtype"]])
    begin, end = entry["data_offsets"]
    if math.prod(shape) * kind.itemsize != end - begin:  # before a wrong shape allocates all the memory
        raise CheckpointError(f"{file.name} is damaged: an array's shape {shape} does not fit its {end - begin} bytes")
    array = np.empty(shape, kind)
    if array.nbytes and file.readinto(_bytes(array)) != array.nbytes:
        raise CheckpointError(f"{file.name} is damaged: it is cut off")
    return array


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConnectorError(f"can't write the checkpoint in {folder}: {error.strerror}") from None
