"""An open file: its bytes, plain or decompressed, and which file it is."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from connectors.files.compression import DEFAULT_WINDOW_LOG, Compression, compression, compression_of
from connectors.files.decompression import CompressedFile, DamagedError
from connectors.files.first_bytes import SAMPLE
from connectors.files.plain_file import PlainFile
from connectors.files.same_bytes import begins_alike, seek_behind
from connectors.records import HEAD
from streamlin.errors import ConnectorError
from streamlin.events import Position, SourceContext

Content = PlainFile | CompressedFile


def checkpoint_key(path: str) -> str:
    """A path's key in checkpoints: absolute, but as given; links are not resolved, as they may be switched."""
    return str(Path(path).absolute())


class OpenFile:
    """An open file. Renaming or deleting it, or replacing it by another one at its path, has no effect.

    Attributes
    ----------
    path : the file's path when it was opened.
    identity : `device`, `inode` and `file`, the resolved path.

    Raises
    ------
    OSError : the file can't be opened.
    ConnectorError : it is not a regular file, or not of the kind that its suffix names.
    """

    def __init__(self, path: str, context: SourceContext) -> None:
        self.path = path
        self._descriptor = _opened(path)
        try:
            status = os.fstat(self._descriptor)
            self._compression = self._compression_of(path, context)
        except BaseException:
            self.close()
            raise
        self.identity = {"device": status.st_dev, "inode": status.st_ino, "file": os.path.realpath(path)}

    def close(self) -> None:
        """Close the file; does nothing if it is closed."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):  # a network file system may have lost the file
                os.close(descriptor)

    @property
    def is_plain(self) -> bool:
        """Whether it is not compressed."""
        return self._compression is None

    def content(self, offset: int = 0) -> Content:
        """The bytes from an offset on, or from the end if that is before."""
        content: Content = PlainFile(self._descriptor)
        if self._compression is not None:
            content = CompressedFile(self._descriptor, self._compression)
        if offset:
            content.seek(offset)
        return content

    def size(self) -> int:
        """Bytes on disk."""
        return os.fstat(self._descriptor).st_size

    def holds(self, position: Position) -> bool:
        """Whether the file has the bytes before a position; of a compressed file only the first ones are compared."""
        compare = seek_behind if self.is_plain else begins_alike
        return compare(self.content(), position)

    def head(self) -> bytes:
        """The first bytes, up to `HEAD`."""
        try:
            return self.content().read(HEAD)
        except DamagedError:
            return b""

    def is_at(self, path: str) -> bool:
        """Whether the file at `path` is this one. Raises OSError if there is no file."""
        status = os.stat(path)
        return self.is_file_of({"device": status.st_dev, "inode": status.st_ino})

    def is_file_of(self, position: Position) -> bool:
        """Whether the file has the device and inode of a position."""
        return all(self.identity[name] == position[name] for name in ("device", "inode"))

    def is_linked(self) -> bool:
        """Whether the file still has a name somewhere."""
        return os.fstat(self._descriptor).st_nlink > 0

    def _compression_of(self, path: str, context: SourceContext) -> Compression | None:
        """By the first bytes; a followed file, which may be empty yet, is plain."""
        if context.follow:
            return compression(path)
        head = os.pread(self._descriptor, SAMPLE, 0)
        return compression_of(path, head, int(context.options.get("long", DEFAULT_WINDOW_LOG)))


def _opened(path: str) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe without a writer must not block
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    kind = "folder" if stat.S_ISDIR(mode) else "pipe or device, which can be read as '-' (standard input)"
    raise ConnectorError(f"{path} is a {kind}, not a regular file")
