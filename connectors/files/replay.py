"""Reading files one after another, each to its end."""

import os
from collections.abc import Sequence

from connectors.failures import failing
from connectors.files.part import Part, key_of
from connectors.records import PartRecords
from streamlin.errors import ConnectorError
from streamlin.events import SourceContext


class Replay:
    """Files in the order given; each goes on at its position, if that is still its own.

    Raises
    ------
    ConnectorError : one of them is missing or can't be read; all are looked at before the first is read.
    """

    def __init__(self, paths: Sequence[str], context: SourceContext) -> None:
        self._paths, self._context = paths, context
        self._sizes = [_readable_size(path) for path in paths]
        self._opened = 0
        self._part: Part | None = None

    def read(self) -> list[PartRecords] | None:
        """See `connectors.polling.PolledSource`."""
        if self._part is None:
            if self._opened == len(self._paths):
                return None
            self._part = self._open(self._paths[self._opened])
            self._opened += 1
        with failing(f"{self._paths[self._opened - 1]} can't be read"):
            records = self._part.read()
        if records is not None:
            return records
        last = self._part.finish()
        self.close()
        return last

    def progress(self) -> tuple[int, int]:
        """Bytes on disk: read so far, in all."""
        part, opened = self._part, self._opened
        done = sum(self._sizes[:opened])
        if part is not None and opened:
            done -= max(0, self._sizes[opened - 1] - part.disk_offset)
        return done, sum(self._sizes)

    def close(self) -> None:
        part, self._part = self._part, None
        if part is not None:
            part.close()

    def _open(self, path: str) -> Part:
        position = self._context.positions.get(key_of(path))
        with failing(f"{path} can't be read"):
            part = Part(path, self._context)
            if position is not None and not part.resume(position):
                self._context.notice(f"{path} is not the file that was read before; it is read from its beginning")
        return part


def _readable_size(path: str) -> int:
    with failing(f"{path} can't be read"):
        size = os.stat(path).st_size
    if not os.access(path, os.R_OK):
        raise ConnectorError(f"{path} can't be read: Permission denied")
    return size
