"""The layout of the file that holds a checkpoint: writing it, and reading it back, verified.

It is that of safetensors: the header's length (8 bytes, little-endian), the header (JSON), the arrays' bytes. The
header's `__metadata__` holds the state as JSON text, and a CRC-32 of everything else. It never uses pickle.
"""

import contextlib
import json
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from streamlin.checkpoint.state import check_state
from streamlin.errors import CheckpointError
from streamlin.storage.arrays import Expected, Layout, Shape, check_layout, check_values

VERSION = 1
_TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "BOOL": "|b1", "U16": "<u2", "U8": "|u1"}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}
BLOCK = 1 << 22
"""Bytes that are copied, read or written at once."""
_LONGEST_HEADER = 1 << 30

Arrays = Mapping[str, NDArray[Any]]
Expect = Callable[[Mapping[str, Layout], Mapping[str, Any]], Mapping[str, Expected]]
"""From the arrays' types and shapes, and the state, to what the arrays must be."""


class UnexpectedError(CheckpointError):
    """The file is whole, but does not hold what is expected."""


def write(
    file: BinaryIO, arrays: Arrays, state: Mapping[str, Any], contents: Iterable[memoryview] | None = None
) -> None:
    """Write arrays and state (JSON-able) to a binary file, which is empty.

    contents : the bytes of the arrays' blocks, if they are no longer those of `arrays`.
    """
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
    file.write(_header(table, about, 0))  # as long as the one that replaces it once the checksum is known
    for block in map(as_bytes, blocks(arrays)) if contents is None else contents:
        checksum = zlib.crc32(block, checksum)
        file.write(block)
    file.seek(0)
    file.write(_header(table, about, checksum))


def blocks(arrays: Arrays) -> Iterator[NDArray[Any]]:
    """The rows of all arrays in blocks of at most BLOCK bytes, or one row; a block need not be contiguous."""
    for array in arrays.values():
        if array.nbytes == 0:
            continue
        rows = array.reshape(-1) if array.flags.c_contiguous else array
        step = max(1, BLOCK // (rows.nbytes // rows.shape[0]))
        for begin in range(0, rows.shape[0], step):
            yield rows[begin : begin + step]


def as_bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array; a contiguous one is not copied."""
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # a buffer, from Python 3.12 on


def read(path: Path, expect: Expect | None = None) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the state of one file, verified.

    expect : called with the layout of the arrays and the state before memory is used for the arrays; returns what each
        must be, or raises CheckpointError.
    """
    with _reading(path) as (file, header):
        wanted = None if expect is None else _expected(file, header, expect)
        arrays = {name: _read_array(file, *layout) for name, layout in header.layout.items()}
        checksum = header.checksum
        for array in arrays.values():
            checksum = zlib.crc32(as_bytes(array), checksum)
        header.check(checksum)
        if wanted is not None:
            check_values(arrays, wanted, path)
        return arrays, header.state


def read_state(path: Path) -> dict[str, Any]:
    """The state of one file, verified, without memory for its arrays. Raises CheckpointError as `read`."""
    with _reading(path) as (file, header):
        header.check(_checksum_of_rest(file, header.checksum))
        check_state(header.state)
        return header.state


def is_whole(path: Path) -> bool:
    """Whether the file is there, and undamaged."""
    with contextlib.suppress(CheckpointError), _reading(path) as (file, header):
        header.check(_checksum_of_rest(file, header.checksum))
        return True
    return False


class _Header:
    """The header of a file, checked as far as it can be alone.

    layout : type and shape of each array, by name. state : the JSON-able values.
    checksum : CRC-32 of all this; that of the file goes on with the arrays.
    """

    def __init__(self, path: Path, table: dict[str, Any], size: int) -> None:
        about = table.pop("__metadata__", {})
        if about.get("format") != "streamlin":
            raise CheckpointError(f"{path} is not a streamlin checkpoint")
        if about["version"] != str(VERSION):
            raise CheckpointError(f"{path} has version {about['version']}: expected version {VERSION}")
        self._path, self._crc = path, about["crc32"]
        self.layout = {name: _layout(path, entry) for name, entry in table.items()}
        self._check_sizes(table, size)
        self.checksum = _checksum(table, {key: about[key] for key in ("format", "version", "state")})
        self.state: dict[str, Any] = json.loads(about["state"])

    def check(self, checksum: int) -> None:
        """Raise CheckpointError unless this is the file's checksum."""
        if f"{checksum:08x}" != self._crc:
            raise CheckpointError(f"{self._path} is damaged: its checksum is {checksum:08x}, expected {self._crc}")

    def _check_sizes(self, table: Mapping[str, Any], size: int) -> None:
        """Raise CheckpointError unless the arrays lie one behind the other and fill the file, and memory has room."""
        end = 0
        for entry in table.values():
            if entry["data_offsets"][0] != end:
                raise CheckpointError(f"{self._path} is damaged: its arrays do not lie one behind the other")
            end = entry["data_offsets"][1]
        if end > size:
            raise CheckpointError(f"{self._path} is damaged: it is cut off")
        if end < size:
            raise CheckpointError(f"{self._path} is damaged: it is longer than its header says")
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if end > memory:
            raise CheckpointError(f"{self._path} needs {end / 2**30:.1f} GiB, the machine has {memory / 2**30:.1f} GiB")


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[tuple[BufferedReader, _Header]]:
    """A file behind its header. Whatever is wrong with it becomes a CheckpointError."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= size - 8:
                raise CheckpointError(f"{path} is damaged: its header is cut off")
            if length > _LONGEST_HEADER:
                raise CheckpointError(f"{path} is damaged: its header has {length:,} bytes")
            yield file, _Header(path, json.loads(file.read(length)), size - 8 - length)
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint in {path.parent}") from None
    except OSError as error:
        raise CheckpointError(f"can't read {path}: {error.strerror}") from None
    except MemoryError:
        raise CheckpointError(f"{path} needs more memory than there is") from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from None


def _expected(file: BufferedReader, header: _Header, expect: Expect) -> Mapping[str, Expected]:
    """What the arrays must be. If they are not, the checksum tells whether the file is damaged or another one's."""
    try:
        check_state(header.state)
        wanted = expect(header.layout, header.state)
        check_layout(header.layout, wanted, header._path)
    except CheckpointError as error:
        header.check(_checksum_of_rest(file, header.checksum))
        raise UnexpectedError(str(error)) from None
    return wanted


def _checksum_of_rest(file: BufferedReader, checksum: int) -> int:
    while block := file.read(BLOCK):
        checksum = zlib.crc32(block, checksum)
    return checksum


def _checksum(table: Mapping[str, Any], about: Mapping[str, str]) -> int:
    return zlib.crc32(json.dumps([table, about], sort_keys=True).encode())


def _header(table: Mapping[str, Any], about: Mapping[str, str], checksum: int) -> bytes:
    header = json.dumps({"__metadata__": {**about, "crc32": f"{checksum:08x}"}, **table}).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header


def _layout(path: Path, entry: Mapping[str, Any]) -> Layout:
    """Type and shape of an array, which fit the bytes it has: before a wrong shape allocates all the memory."""
    kind, shape = np.dtype(_TYPES[entry["dtype"]]), entry["shape"]
    begin, end = entry["data_offsets"]
    if not all(type(length) is int and length >= 0 for length in (*shape, begin, end)):
        raise CheckpointError(f"{path} is damaged: an array's shape is {shape!r:.80}")
    if math.prod(shape) * kind.itemsize != end - begin:
        raise CheckpointError(f"{path} is damaged: an array's shape {shape!r:.80} does not fit its {end - begin} bytes")
    return kind, tuple(shape)


def _read_array(file: BufferedReader, kind: np.dtype[Any], shape: Shape) -> NDArray[Any]:
    array = np.empty(shape, kind)
    if array.nbytes and file.readinto(as_bytes(array)) != array.nbytes:
        raise CheckpointError(f"{file.name} is damaged: it is cut off")
    return array
