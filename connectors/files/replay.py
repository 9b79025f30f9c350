"""Reads files one after another, each to its end."""

import os
from collections.abc import Sequence
from dataclasses import replace
from errno import EACCES

from connectors.failures import connector_errors
from connectors.files.file_reader import FileReader
from connectors.files.outage import postponed
from connectors.files.plain_file import ChangedError
from connectors.files.reading_plan import PlannedFile, other_file, plan
from connectors.records import PartRecords
from streamlin.events import ReadBytes, SourceContext


class FileReplay:
    """Reads files in the given order, each from its position, if it was read before; see `plan`.

    Raises
    ------
    ConnectorError : a file is missing or can't be read; all are checked before the first one is read.
    """

    def __init__(self, paths: Sequence[str], context: SourceContext) -> None:
        self._paths, self._context = paths, context
        self._files: list[PlannedFile] = []
        self._sizes: list[int] = []
        self._opened = self._record_bytes = 0
        self._expansion = 1.0
        self._reader: FileReader | None = None
        for path in paths:
            _check_readable(path)
        with connector_errors(f"{self.path} can't be read"), postponed():
            self._plan()

    @property
    def path(self) -> str:
        """The file that is being read, or is to be read next."""
        if not self._files:
            return self._paths[0]
        return self._files[self._opened - (self._reader is not None)].path

    def read(self) -> list[PartRecords] | None:
        """See `connectors.polling.PolledSource`. Raises OSError."""
        records = self._next()
        self._record_bytes += sum(own.n_bytes(0, len(own)) for own in records or ())
        return records

    def _next(self) -> list[PartRecords] | None:
        if not self._files:
            self._plan()
        if self._reader is None:
            if self._opened == len(self._files):
                return None
            self._reader = self._open(self._files[self._opened])
            self._opened += 1
        try:
            records = self._reader.read()
        except ChangedError:
            return self._reader.begin_again()
        self._expansion = self._reader.expansion
        if records is not None:
            return records
        last = self._reader.finish()
        self.close()
        return last

    def progress(self) -> ReadBytes:
        """See `streamlin.events.Source`; bytes on disk."""
        reader, opened = self._reader, self._opened
        done = sum(self._sizes[:opened])
        if reader is not None and opened:
            done -= max(0, self._sizes[opened - 1] - reader.disk_offset)
        return ReadBytes(done, sum(self._sizes), self._record_bytes, self._expansion)

    def reopen(self) -> None:
        """Open the file again by the next `read`, to go on behind the same bytes."""
        if self._reader is not None:
            self._opened -= 1
            self._files[self._opened] = replace(self._files[self._opened], position=self._reader.position())
        self.close()

    def close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _plan(self) -> None:
        files = plan(self._paths, self._context)
        self._sizes = [os.stat(file.path).st_size for file in files]
        self._files = files

    def _open(self, file: PlannedFile) -> FileReader:
        reader = FileReader(file.path, self._context, file.name)
        try:
            if file.position is not None and not reader.resume(file.position):
                self._context.notice(other_file(file.path, file.position))
        except BaseException:
            reader.close()
            raise
        return reader


def _check_readable(path: str) -> None:
    with connector_errors(f"{path} can't be read"), postponed():
        os.stat(path)
        if not os.access(path, os.R_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
