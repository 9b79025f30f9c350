"""`file://`: files, plain or compressed, to read once or to follow."""

from collections.abc import Mapping

from connectors.files.paths import check_followable, files_of
from connectors.files.replay import Replay
from connectors.files.tail import Tail
from connectors.options import check_options
from connectors.polling import PolledSource
from connectors.records import PartRecords
from streamlin.errors import ConfigError
from streamlin.events import Position, SourceContext


class FileSource(PolledSource):
    """Records of one file, of a folder's files or of those that match a pattern, one file after another.

    Parameters
    ----------
    address : path, folder, or pattern; sorted by name.
    context : with `follow` one plain file, which may be missing yet. Its options: `start`, where a followed file
        begins without a checkpoint, `beginning` (default) or `end`.

    Raises
    ------
    ConfigError : an unknown option; something that can't be followed; `start=end` without `follow`.
    ConnectorError : no file, or one that can't be read.
    """

    def __init__(self, address: str, context: SourceContext) -> None:
        super().__init__()
        check_options("file source", context.options, {"start": ("beginning", "end")})
        from_end = context.options.get("start") == "end"
        self._reader: Replay | Tail
        if context.follow:
            check_followable(address)
            self._reader = Tail(address, context, from_end)
        elif from_end:
            raise ConfigError("file source: start=end needs --follow; without it nothing would be read")
        else:
            self._reader = Replay(files_of(address), context)

    def read(self) -> list[PartRecords] | None:
        return self._reader.read()

    def progress(self) -> tuple[int, int] | None:
        """Bytes on disk, read so far and in all; None when following. May be called on any thread."""
        return self._reader.progress()

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """A file forgets nothing."""

    def close(self) -> None:
        self._reader.close()
