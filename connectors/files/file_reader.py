"""Reads the records of one open file."""

import os
import stat
from pathlib import Path

from connectors.files.compression import DEFAULT_WINDOW_LOG, Compression, compression, compression_of
from connectors.files.decompression import CompressedFile, DamagedError, TrailingError
from connectors.files.first_bytes import SAMPLE
from connectors.files.plain_file import ChangedError, PlainFile
from connectors.files.record_cutter import RecordCutter
from connectors.records import FINGERPRINT, Origin, PartRecords
from streamlin.errors import CheckpointError, ConnectorError
from streamlin.events import Position, SourceContext

BLOCK = 512 * 1024


def checkpoint_key(path: str) -> str:
    """A path's key in checkpoints: absolute, the folder resolved; a link at the end is kept, as it may be switched."""
    given = Path(path)
    return str(given.parent.resolve() / given.name)


class FileReader:
    """An open file, read from its beginning, or from where `resume` or `go_to_end` moves to.

    Renaming or deleting the file, or replacing it by another one at its path, has no effect on the reader.

    Parameters
    ----------
    path : the file.
    name : the path that its records are attributed to, if the file had another path before.

    Raises
    ------
    OSError : the file can't be opened.
    ConnectorError : it is not a regular file.
    """

    def __init__(self, path: str, context: SourceContext, name: str | None = None) -> None:
        self._context = context
        self._descriptor = _opened(path)
        status = os.fstat(self._descriptor)
        self._compression = self._compression_of(path)
        self._origin = Origin(
            name or path, checkpoint_key(name or path), {"device": status.st_dev, "inode": status.st_ino}
        )
        self._known_damage: int | None = None
        self._begin()

    def read(self) -> list[PartRecords] | None:
        """The records that the next block completes, possibly none; None at the current end of the file.

        A file that was truncated or overwritten is read again from its beginning. Raises OSError.
        """
        try:
            block = self._bytes.read(max(BLOCK, self._cutter.pending_bytes))
        except ChangedError:
            return self._begin_again()
        except TrailingError as trailing:
            self._context.notice(f"{self._origin.part}: {trailing}")
            return None
        except DamagedError as damage:
            return self._break_off(str(damage))
        except ConnectorError as error:
            raise ConnectorError(f"{self._origin.part}: {error}") from error
        return self._cutter.feed(block) if block else None

    def finish(self) -> list[PartRecords]:
        """The file ends here: an incomplete last line is a record too."""
        return self._cutter.finish()

    def resume(self, position: Position) -> bool:
        """Go to a position; False, without moving, if it belongs to another file.

        Raises CheckpointError if it is not a position in a file.
        """
        if any(position.get(name) != number for name, number in self._origin.identity.items()):
            return False
        try:
            before = bytes.fromhex(position["before"])
        except (KeyError, TypeError, ValueError):
            raise CheckpointError(f"{self._origin.part}: the checkpoint's position is {position!r:.200}") from None
        if not self._seek(position["offset"], before):
            self._begin()
            return False
        self._known_damage = position.get("damaged")
        return True

    def go_to_end(self) -> None:
        """Go to the end of a plain file, or to the beginning of an incomplete last line."""
        size = os.fstat(self._descriptor).st_size
        at = max(0, size - self._context.max_record_bytes)
        offset = at + os.pread(self._descriptor, size - at, at).rfind(b"\n") + 1
        known = min(FINGERPRINT, offset)
        self._seek(offset, os.pread(self._descriptor, known, offset - known))

    def is_at(self, path: str) -> bool:
        """Whether the file at `path` is this one. Raises OSError if there is no file."""
        status = os.stat(path)
        return self._origin.identity == {"device": status.st_dev, "inode": status.st_ino}

    @property
    def disk_offset(self) -> int:
        """The number of bytes of the file on disk that are read."""
        return self._bytes.disk_offset

    def close(self) -> None:
        os.close(self._descriptor)

    def _compression_of(self, path: str) -> Compression | None:
        """By the first bytes; a followed file, which may be empty yet, is plain."""
        if self._context.follow:
            return compression(path)
        head = os.pread(self._descriptor, SAMPLE, 0)
        try:
            return compression_of(path, head, int(self._context.options.get("long", DEFAULT_WINDOW_LOG)))
        except ConnectorError:
            self.close()
            raise

    def _begin(self) -> None:
        self._bytes = self._open_bytes()
        self._cutter = self._open_cutter()

    def _open_bytes(self) -> PlainFile | CompressedFile:
        if self._compression is None:
            return PlainFile(self._descriptor)
        return CompressedFile(self._descriptor, self._compression)

    def _open_cutter(self, offset: int = 0, before: bytes = b"", header: bytes | None = None) -> RecordCutter:
        context = self._context
        return RecordCutter(
            self._origin, context.framing, context.max_record_bytes, offset, before, header, context.notice
        )

    def _seek(self, offset: int, before: bytes) -> bool:
        header = self._header() if offset else None
        self._bytes = self._open_bytes()
        self._cutter = self._open_cutter(offset, before, header)
        return self._bytes.seek(offset, before)

    def _header(self) -> bytes | None:
        """The header at the file's beginning, if its format has one."""
        context = self._context
        source, cutter = self._open_bytes(), RecordCutter(self._origin, context.framing, context.max_record_bytes)
        while cutter.header_due:
            try:
                block = source.read(BLOCK)
            except DamagedError:
                break
            if not block:
                break
            cutter.feed(block)
        return cutter.header

    def _begin_again(self) -> list[PartRecords]:
        self._context.notice(f"{self._origin.part} was truncated or overwritten; it is read from its beginning again")
        incomplete = self._cutter.finish()
        self._begin()
        return incomplete

    def _break_off(self, damage: str) -> list[PartRecords]:
        """The incomplete rest as a record with an error, unless an earlier run already returned it."""
        good = self._bytes.offset
        records = self._cutter.break_off(f"{damage}, after {good} decompressed bytes", good)
        return records if self._known_damage != good else []


def _opened(path: str) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe without a writer must not block
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    kind = "folder" if stat.S_ISDIR(mode) else "pipe or device, which can be read as '-' (standard input)"
    raise ConnectorError(f"{path} is a {kind}, not a regular file")
