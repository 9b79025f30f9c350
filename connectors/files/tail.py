"""Follows one file by its name, as `tail -F` does."""

import os
import time
from contextlib import suppress

from connectors.failures import connector_errors
from connectors.files.file_reader import FileReader, checkpoint_key
from connectors.polling import PAUSE
from connectors.records import PartRecords
from streamlin.events import Position, SourceContext

_NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)


class FileTail:
    """Follows a file that grows, may be truncated, and may be replaced by another file at its path (rotation).

    When another file is at the path, the old file is read to its end first. It is left only when the new file has
    content, since until then its writer may still write to the old one. An incomplete last line is then a record. After
    a restart the file that was being read is searched for in its folder, and read to its end first.

    Parameters
    ----------
    from_end : without a position, begin at the end of the file, if it exists.
    """

    def __init__(self, path: str, context: SourceContext, from_end: bool) -> None:
        self._path, self._context = path, context
        self._waiting = False
        position = context.positions.get(checkpoint_key(path))
        with connector_errors(f"{path} can't be read"):
            self._reader = self._open() if position is None else self._resume(position)
            if position is None and from_end and self._reader is not None:
                self._reader.go_to_end()

    def read(self) -> list[PartRecords] | None:
        """See `connectors.polling.PolledSource`; never None."""
        with connector_errors(f"{self._path} can't be read"):
            if self._reader is None:
                return self._await()
            records = self._reader.read()
            if records is not None:
                return records
            if not self._has_successor(self._reader):
                time.sleep(PAUSE)
                return []
            return self._leave(self._reader)

    def progress(self) -> None:
        """None: a followed file has no end."""

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self) -> FileReader | None:
        """The file that is at the path now, if any."""
        try:
            return FileReader(self._path, self._context)
        except FileNotFoundError:
            return None

    def _await(self) -> list[PartRecords]:
        try:
            self._reader = FileReader(self._path, self._context)
        except _NOT_THERE as error:
            if not self._waiting:
                self._context.notice(f"waiting for {self._path}: {error.strerror}")
            self._waiting = True
            time.sleep(PAUSE)
        return []

    def _has_successor(self, reader: FileReader) -> bool:
        try:
            return not reader.is_at(self._path) and os.path.getsize(self._path) > 0
        except _NOT_THERE:
            return False

    def _leave(self, reader: FileReader) -> list[PartRecords]:
        """Finish a file that was replaced at its path, once everything written to it in the meantime is read."""
        records = reader.read()
        if records is not None:
            return records
        last = reader.finish()
        self.close()
        return last

    def _resume(self, position: Position) -> FileReader | None:
        reader = self._open()
        if reader is not None and reader.resume(position):
            return reader
        rotated = self._find_rotated(position)
        if rotated is None:
            self._context.notice(
                f"the file that was read as {self._path} is gone or overwritten; what was added to it after "
                f"offset {position['offset']} is not read, and {self._path} is read from its beginning"
            )
            return reader
        if reader is not None:
            reader.close()
        return rotated

    def _find_rotated(self, position: Position) -> FileReader | None:
        """The file that a position belongs to, under any name in the path's folder."""
        folder = os.path.dirname(checkpoint_key(self._path))
        try:
            paths = sorted(entry.path for entry in os.scandir(folder) if entry.is_file())
        except FileNotFoundError:
            return None
        for path in paths:
            with suppress(FileNotFoundError):
                if os.stat(path).st_ino == position.get("inode"):
                    reader = FileReader(path, self._context, self._path)
                    if reader.resume(position):
                        self._context.notice(f"{path} was {self._path} before; it is read to its end first")
                        return reader
                    reader.close()
        return None
