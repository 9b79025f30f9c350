"""Follows one file by its name, as `tail -F` does."""

import os
import time
from errno import ENOENT

from connectors.failures import connector_errors
from connectors.files.file_reader import FileReader
from connectors.files.lost_files import find_file
from connectors.files.open_file import checkpoint_key
from connectors.files.outage import postponed
from connectors.files.plain_file import ChangedError
from connectors.files.recognition import recognized
from connectors.files.resumption import begins_equally, reader_behind, was_before
from connectors.polling import PAUSE
from connectors.records import PartRecords
from streamlin.events import Position, SourceContext

_NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)

REWRITTEN_WITHIN = 0.5
"""Seconds that a program which writes a longer copy over a file may need to write what was there before."""


class FileTail:
    """Follows a file that grows, may be truncated, and may be replaced by another file at its path (rotation).

    When another file is at the path, the old file is read to its end first. It is left only when the new file has
    content, since until then its writer may still write to the old one. If the new file begins with all that was read,
    it is a copy of the old one, and reading goes on behind the same bytes. Otherwise an incomplete last line of the old
    file is a record. After a restart the file that was being read is searched for, and read to its end first.

    Parameters
    ----------
    from_end : without a position, begin at the end of the file, if it exists.
    """

    def __init__(self, path: str, context: SourceContext, from_end: bool) -> None:
        self._path, self._context = path, context
        self._from_end = from_end
        self._position: Position | None = None
        self._looked_up = self._waiting = self._said_equal = False
        self._shorter_since: float | None = None
        self._reader: FileReader | None = None
        with connector_errors(f"{path} can't be read"), postponed():
            try:
                self._open()
            except FileNotFoundError:
                self._from_end = False

    @property
    def path(self) -> str:
        """The file that is being read, as given."""
        return self._path

    def read(self) -> list[PartRecords] | None:
        """See `connectors.polling.PolledSource`; never None. Raises OSError."""
        if self._reader is None:
            self._await()
            return []
        try:
            records = self._reader.read()
        except ChangedError:
            return self._changed(self._reader)
        self._shorter_since = None
        if records is not None:
            return records
        if not self._has_successor(self._reader):
            time.sleep(PAUSE)
            return []
        return self._leave(self._reader)

    def progress(self) -> None:
        """None: a followed file has no end."""

    def reopen(self) -> None:
        """Go on behind the same bytes in the file that is at the path, or was there, by the next `read`."""
        if self._reader is not None:
            self._position = self._reader.position()
        self.close()

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _await(self) -> None:
        try:
            self._open()
        except _NOT_THERE as error:
            if not self._waiting:
                self._context.notice(f"waiting for {self._path}: {error.strerror}")
            self._waiting = True
            time.sleep(PAUSE)

    def _look_up(self) -> None:
        known = recognized([self._path], self._context)
        self._position = known.positions.get(self._path) or known.lost.get(checkpoint_key(self._path))
        self._looked_up = True

    def _open(self) -> None:
        """Open the file at the path, or the one that has been read there before. Raises OSError."""
        if not self._looked_up:
            self._look_up()
        try:
            reader: FileReader | None = FileReader(self._path, self._context)
        except FileNotFoundError:
            if self._position is None or self._waiting:
                raise
            reader = None
        try:
            if self._position is not None:
                reader = reader_behind(self._position, reader, self._path, self._context)
            elif self._from_end and reader is not None:
                reader.go_to_end()
        except BaseException:
            if reader is not None:
                reader.close()
            raise
        if reader is None:
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
        self._reader, self._position = reader, None
        self._from_end = self._waiting = False

    def _changed(self, reader: FileReader) -> list[PartRecords]:
        """The file was truncated or overwritten; what it had before, and was not read, may be in a copy."""
        if reader.is_prefix() and self._may_be_rewritten():
            time.sleep(PAUSE)
            return []
        self._shorter_since = None
        copy = find_file(reader.position(), self._path, self._context) if reader.unread else None
        if copy is None:
            return reader.begin_again()
        self._context.notice(was_before(copy, self._path))
        self._reader = copy
        reader.close()
        return []

    def _may_be_rewritten(self) -> bool:
        """Whether what was read may be written again right now, as by `cp` over the file."""
        now = time.monotonic()
        if self._shorter_since is None:
            self._shorter_since = now
        return now - self._shorter_since < REWRITTEN_WITHIN

    def _has_successor(self, reader: FileReader) -> bool:
        try:
            return not reader.is_at(self._path) and os.path.getsize(self._path) > 0
        except _NOT_THERE:
            return False

    def _leave(self, reader: FileReader) -> list[PartRecords]:
        """Finish a file that was replaced at its path, once everything written to it in the meantime is read."""
        try:
            records = reader.read()
            if records is not None:
                return records
            successor = FileReader(self._path, self._context)
        except (ChangedError, *_NOT_THERE):  # the next `read` finds out
            return []
        try:
            last = self._last_of(reader, successor)
        except BaseException:
            successor.close()
            raise
        self._reader = successor
        reader.close()
        return last

    def _last_of(self, reader: FileReader, successor: FileReader) -> list[PartRecords]:
        """The incomplete last line of a file as a record, unless its successor is a copy of it, and takes over."""
        if successor.take_over(reader):
            time.sleep(PAUSE)  # some network file systems give a file another inode each time
            if reader.is_linked():
                self._say_equal(reader.position())
            return []
        self._say_different(reader, successor)
        return reader.finish()

    def _say_equal(self, position: Position) -> None:
        """The old file is still there under another name; a line tells of it, once."""
        if not self._said_equal:
            self._context.notice(begins_equally(self._path, position))
        self._said_equal = True

    def _say_different(self, reader: FileReader, successor: FileReader) -> None:
        """A rotated file has another name. A file that has none, or begins as the new one, was replaced."""
        if reader.position()["offset"] and (not reader.is_linked() or successor.begins_as(reader)):
            self._context.notice(f"{self._path} was replaced by a file with other bytes; it is read from its beginning")
