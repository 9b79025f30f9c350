"""Reads files one after another, each to its end."""

import os
from collections.abc import Sequence

from connectors.failures import connector_errors
from connectors.files.file_reader import FileReader, checkpoint_key
from connectors.records import PartRecords
from streamlin.errors import ConnectorError
from streamlin.events import SourceContext


class FileReplay:
    """Reads files in the given order, each from its position, if that still belongs to it.

    Raises
    ------
    ConnectorError : a file is missing or can't be read; all are checked before the first one is read.
    """

    def __init__(self, paths: Sequence[str], context: SourceContext) -> None:
        self._paths, self._context = paths, context
        self._sizes = [_readable_size(path) for path in paths]
        self._opened = 0
        self._reader: FileReader | None = None

    def read(self) -> list[PartRecords] | None:
        """See `connectors.polling.PolledSource`."""
        if self._reader is None:
            if self._opened == len(self._paths):
                return None
            self._reader = self._open(self._paths[self._opened])
            self._opened += 1
        with connector_errors(f"{self._paths[self._opened - 1]} can't be read"):
            records = self._reader.read()
        if records is not None:
            return records
        last = self._reader.finish()
        self.close()
        return last

    def progress(self) -> tuple[int, int]:
        """Bytes on disk: those read so far, and the total."""
        reader, opened = self._reader, self._opened
        done = sum(self._sizes[:opened])
        if reader is not None and opened:
            done -= max(0, self._sizes[opened - 1] - reader.disk_offset)
        return done, sum(self._sizes)

    def close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _open(self, path: str) -> FileReader:
        position = self._context.positions.get(checkpoint_key(path))
        with connector_errors(f"{path} can't be read"):
            reader = FileReader(path, self._context)
            if position is not None and not reader.resume(position):
                self._context.notice(f"{path} is not the file that was read before; reading starts at its beginning")
        return reader


def _readable_size(path: str) -> int:
    with connector_errors(f"{path} can't be read"):
        size = os.stat(path).st_size
    if not os.access(path, os.R_OK):
        raise ConnectorError(f"{path} can't be read: Permission denied")
    return size
