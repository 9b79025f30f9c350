"""Following one file by its name, as `tail -F` does."""

import os
import time
from contextlib import suppress

from connectors.failures import failing
from connectors.files.part import Part, key_of
from connectors.polling import PAUSE
from connectors.records import PartRecords
from streamlin.events import Position, SourceContext

_NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)


class Tail:
    """A file that grows, is truncated, and gives its path to another one (rotation).

    When the path has become another file's, the old one is read to its end first: not before the new one has
    content, since until then its writer may still be at the old one. What is unfinished at its end is then a record.
    After a stop the file that was being read is looked for in its folder, and finished first.

    Parameters
    ----------
    from_end : without a position, begin at the end of the file, if it is there.
    """

    def __init__(self, path: str, context: SourceContext, from_end: bool) -> None:
        self._path, self._context = path, context
        self._awaited = False
        position = context.positions.get(key_of(path))
        with failing(f"{path} can't be read"):
            self._part = self._open() if position is None else self._resume(position)
            if position is None and from_end and self._part is not None:
                self._part.go_to_end()

    def read(self) -> list[PartRecords] | None:
        """See `connectors.polling.PolledSource`; never None."""
        with failing(f"{self._path} can't be read"):
            if self._part is None:
                return self._await()
            records = self._part.read()
            if records is not None:
                return records
            if not self._has_successor(self._part):
                time.sleep(PAUSE)
                return []
            return self._leave(self._part)

    def progress(self) -> None:
        """There is no end to be near to."""

    def close(self) -> None:
        if self._part is not None:
            self._part.close()
            self._part = None

    def _open(self) -> Part | None:
        """The file that is at the path now, if there is one."""
        try:
            return Part(self._path, self._context)
        except FileNotFoundError:
            return None

    def _await(self) -> list[PartRecords]:
        try:
            self._part = Part(self._path, self._context)
        except _NOT_THERE as error:
            if not self._awaited:
                self._context.notice(f"waiting for {self._path}: {error.strerror}")
            self._awaited = True
            time.sleep(PAUSE)
        return []

    def _has_successor(self, part: Part) -> bool:
        try:
            return not part.is_at(self._path) and os.path.getsize(self._path) > 0
        except _NOT_THERE:
            return False

    def _leave(self, part: Part) -> list[PartRecords]:
        """Finish a file whose path is another's, once nothing is left that was written to it meanwhile."""
        late = part.read()
        if late is not None:
            return late
        last = part.finish()
        self.close()
        return last

    def _resume(self, position: Position) -> Part | None:
        part = self._open()
        if part is not None and part.resume(position):
            return part
        rotated = self._find_rotated(position)
        if rotated is None:
            self._context.notice(
                f"the file that was read as {self._path} is gone or overwritten; what was added to it behind "
                f"offset {position['offset']} is not read, and {self._path} is read from its beginning"
            )
            return part
        if part is not None:
            part.close()
        return rotated

    def _find_rotated(self, position: Position) -> Part | None:
        """The file that a position belongs to, under whatever name in the path's folder."""
        folder = os.path.dirname(key_of(self._path))
        try:
            paths = sorted(entry.path for entry in os.scandir(folder) if entry.is_file())
        except FileNotFoundError:
            return None
        for path in paths:
            with suppress(FileNotFoundError):
                if os.stat(path).st_ino == position["inode"]:
                    part = Part(path, self._context, self._path)
                    if part.resume(position):
                        self._context.notice(f"{path} was {self._path} before; it is finished first")
                        return part
                    part.close()
        return None
