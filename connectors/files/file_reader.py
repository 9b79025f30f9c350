"""Reads the records of one open file."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from connectors.files.compression import DEFAULT_WINDOW_LOG, Compression, compression, compression_of
from connectors.files.decompression import CompressedFile, DamagedError, TrailingError
from connectors.files.first_bytes import SAMPLE
from connectors.files.plain_file import ChangedError, PlainFile
from connectors.files.record_cutter import RecordCutter
from connectors.files.same_bytes import begins_alike, seek_behind
from connectors.files.unended_line import behind_line_end, is_continued
from connectors.records import HEAD, Origin, PartRecords, position_in
from streamlin.errors import ConnectorError
from streamlin.events import Position, SourceContext

BLOCK = 512 * 1024


def checkpoint_key(path: str) -> str:
    """A path's key in checkpoints: absolute, but as given; links are not resolved, as they may be switched."""
    return str(Path(path).absolute())


class FileReader:
    """An open file, read from its beginning, or from where `resume` or `go_to_end` moves to.

    Renaming or deleting the file, or replacing it by another one at its path, has no effect on the reader.

    Parameters
    ----------
    path : the file.
    name : the path that its records are attributed to, if the file had another path before.

    Attributes
    ----------
    path : see above.

    Raises
    ------
    OSError : the file can't be opened.
    ConnectorError : it is not a regular file.
    """

    def __init__(self, path: str, context: SourceContext, name: str | None = None) -> None:
        self.path, self._context = path, context
        self._descriptor = _opened(path)
        try:
            status = os.fstat(self._descriptor)
            self._compression = self._compression_of(path)
        except BaseException:
            self.close()
            raise
        identity = {"device": status.st_dev, "inode": status.st_ino, "file": os.path.realpath(path)}
        self._origin = Origin(name or path, checkpoint_key(name or path), identity)
        self._damage: Position = {}
        self._size = None if self._compression else status.st_size
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
        return self._identified(self._cutter.feed(block)) if block else None

    def finish(self) -> list[PartRecords]:
        """The file ends here: an incomplete last line is a record too."""
        return self._identified(self._cutter.finish())

    def position(self) -> Position:
        """Where reading resumes: behind the last record that was returned."""
        cutter = self._cutter
        position = position_in(self._origin.identity, cutter.offset, cutter.before, self._bytes.head, self._size)
        return position | self._damage

    def resume(self, position: Position) -> bool:
        """Go to a position; False, at the beginning, if the bytes before it are not those that were read."""
        content = self._open_bytes()
        if not seek_behind(content, position):
            self._begin()
            return False
        self._go_on(content)
        if "unended" not in position:
            self._damage = {key: position[key] for key in ("damaged", "error") if key in position}
        elif self._compression is None and is_continued(self._moved_to(position["offset"])):
            self._resume_in_line(position)
        return True

    def _resume_in_line(self, position: Position) -> None:
        """Read a line again that was a dead letter, as its end was missing; skip the rest of one that was an event."""
        at, begin = position["offset"], position["unended"]
        if "error" in position:
            self._go_on(self._moved_to(begin))
            self._damage = {"error": position["error"]}
            return
        end = behind_line_end(self._moved_to(at))
        self._go_on(self._moved_to(end))
        self._context.notice(
            f"{self._origin.part}:{begin}: this line was read before it was complete; "
            f"the {end - at:,} bytes that were added to it are not read"
        )

    def _moved_to(self, offset: int) -> PlainFile | CompressedFile:
        content = self._open_bytes()
        content.seek(offset)
        return content

    def holds(self, position: Position) -> bool:
        """Whether `resume` would go to a position; of a compressed file only the first bytes are compared."""
        compare = seek_behind if self._compression is None else begins_alike
        return compare(self._open_bytes(), position)

    def head(self) -> bytes:
        """The first bytes, up to `HEAD`."""
        content = self._open_bytes()
        try:
            return content.read(HEAD)
        except DamagedError:
            return b""

    def take_over(self, other: "FileReader") -> bool:
        """Go to where another reader is, if this file holds all that it has read, and that is at least one record."""
        content = other._bytes
        end = position_in({}, content.offset, content.before, content.head, None)
        return other._cutter.offset > 0 and seek_behind(self._open_bytes(), end) and self.resume(other.position())

    def has_more(self) -> bool:
        """Whether there is anything behind the last record that was returned."""
        if self._compression is not None:  # it is decompressed up to here anyway
            try:
                return bool(self._bytes.read(1))
            except DamagedError:
                return True
        return os.fstat(self._descriptor).st_size > self._bytes.offset

    def rest_is_in(self, other: "FileReader") -> bool:
        """Whether another reader's plain file, at the same offset, goes on with all that this one has left."""
        at = self._cutter.offset
        while rest := os.pread(self._descriptor, BLOCK, at):
            if os.pread(other._descriptor, len(rest), at) != rest:
                return False
            at += len(rest)
        return True

    def begins_as(self, other: "FileReader") -> bool:
        """Whether this file has the first bytes that another reader has read."""
        position = other.position()
        return position["offset"] > 0 and begins_alike(self._open_bytes(), position)

    def go_to_end(self) -> None:
        """Go to the end of a plain file, or to the beginning of an incomplete last line."""
        size = os.fstat(self._descriptor).st_size
        at = max(0, size - self._context.max_record_bytes)
        content = self._open_bytes()
        content.seek(at + os.pread(self._descriptor, size - at, at).rfind(b"\n") + 1)
        self._go_on(content)

    def is_at(self, path: str) -> bool:
        """Whether the file at `path` is this one. Raises OSError if there is no file."""
        status, identity = os.stat(path), self._origin.identity
        return (status.st_dev, status.st_ino) == (identity["device"], identity["inode"])

    def is_linked(self) -> bool:
        """Whether the file still has a name somewhere."""
        return os.fstat(self._descriptor).st_nlink > 0

    @property
    def disk_offset(self) -> int:
        """The number of bytes of the file on disk that are read."""
        return self._bytes.disk_offset

    def close(self) -> None:
        with suppress(OSError):  # a network file system may have lost the file
            os.close(self._descriptor)

    def _compression_of(self, path: str) -> Compression | None:
        """By the first bytes; a followed file, which may be empty yet, is plain."""
        if self._context.follow:
            return compression(path)
        head = os.pread(self._descriptor, SAMPLE, 0)
        return compression_of(path, head, int(self._context.options.get("long", DEFAULT_WINDOW_LOG)))

    def _begin(self) -> None:
        self._bytes = self._open_bytes()
        self._cutter = self._open_cutter()

    def _open_bytes(self) -> PlainFile | CompressedFile:
        if self._compression is None:
            return PlainFile(self._descriptor)
        return CompressedFile(self._descriptor, self._compression)

    def _go_on(self, content: PlainFile | CompressedFile) -> None:
        """Read on from where `content` is, which is the beginning of a record."""
        header = self._header() if content.offset else None
        self._bytes = content
        self._cutter = self._open_cutter(content.offset, content.before, header)

    def _open_cutter(self, offset: int = 0, before: bytes = b"", header: bytes | None = None) -> RecordCutter:
        context = self._context
        return RecordCutter(
            self._origin, context.framing, context.max_record_bytes, offset, before, header, context.notice
        )

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
        incomplete = self._identified(self._cutter.finish())
        self._begin()
        return incomplete

    def _break_off(self, damage: str) -> list[PartRecords]:
        """The incomplete rest as a record with an error, unless an earlier run already returned it."""
        good = self._bytes.offset
        records = self._cutter.break_off(f"{damage}, after {good} decompressed bytes", good)
        return self._identified(records) if self._damage.get("damaged") != good else []

    def _identified(self, records: list[PartRecords]) -> list[PartRecords]:
        """The records, with what identifies the file; the first ones replace what an earlier run found damaged."""
        if not records:
            return records
        if self._compression is None:
            self._size = os.fstat(self._descriptor).st_size
        for one in records:
            one.size, one.head = self._size, self._bytes.head
        if self._damage:
            self._context.notice(f"{records[0].name(0)}: what was incomplete before is read again")
            records[0].mended, self._damage = self._damage["error"], {}
        return records


def _opened(path: str) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe without a writer must not block
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    kind = "folder" if stat.S_ISDIR(mode) else "pipe or device, which can be read as '-' (standard input)"
    raise ConnectorError(f"{path} is a {kind}, not a regular file")
