"""`file://`: plain or compressed files, read once or followed."""

import os
import time
from collections.abc import Mapping, Sequence

from connectors.files.matching import read_among
from connectors.files.open_file import checkpoint_key
from connectors.files.outage import Outage, seconds_of
from connectors.files.paths import check_followable, files_of
from connectors.files.positions import check_positions
from connectors.files.reading_plan import tell_of_old_folder
from connectors.files.replay import FileReplay
from connectors.files.tail import FileTail
from connectors.options import check_options
from connectors.polling import PAUSE, PolledSource
from connectors.records import PartRecords
from streamlin.errors import ConfigError
from streamlin.events import Position, ReadBytes, SourceContext

_OPTIONS = {"start": ("beginning", "end"), "long": tuple(map(str, range(10, 32))), "give_up_after": None}


class FileSource(PolledSource):
    """Records of one file, or of the files in a folder or matching a pattern, one file after another.

    Parameters
    ----------
    address : path, folder, or pattern; files are sorted by name.
    context : with `follow`, the address must be one plain file, which need not exist yet. Its option `start` says where
        to begin a followed file without a checkpoint: `beginning` (default) or `end`. `long`, the largest window of
        Zstandard data as a power of two, is that of `zstd --long=31`. `give_up_after`: the seconds for which a file
        that can't be read, on a network file system, is opened again.

    Raises
    ------
    ConfigError : an unknown option, an address that can't be followed, or `start=end` without `follow`.
    ConnectorError : there is no file, or it can't be read.
    CheckpointError : a position of the checkpoint is not one in a file.
    """

    def __init__(self, address: str, context: SourceContext) -> None:
        super().__init__()
        check_options("file source", context.options, _OPTIONS)
        check_positions(context)
        self._outage = Outage(seconds_of(context.options), context.notice)
        from_end = context.options.get("start") == "end"
        self._reader: FileReplay | FileTail
        if context.follow:
            check_followable(address)
            self._reader = FileTail(address, context, from_end)
        elif from_end:
            raise ConfigError("file source: start=end needs --follow; without it nothing would be read")
        else:
            self._reader = FileReplay(files_of(address, context.notice), context)
            if os.path.islink(address.rstrip(os.sep)):
                tell_of_old_folder(address, context)

    @staticmethod
    def key(address: str) -> str:
        """What a checkpoint calls the source: its absolute path as given, as a link in it may be switched."""
        return checkpoint_key(address)

    @staticmethod
    def files(address: str) -> list[str]:
        """The files that the address refers to. Raises ConnectorError if there is none."""
        return files_of(address)

    @staticmethod
    def reads(address: str, paths: Sequence[str]) -> list[str]:
        """Those of `paths` that the address refers to, or would refer to once they exist."""
        return read_among(address, paths)

    def read(self) -> list[PartRecords] | None:
        """See `PolledSource`; after a failure that may pass, the file is opened again."""
        if self._outage.is_pausing:
            time.sleep(PAUSE)
            return []
        try:
            records = self._reader.read()
        except OSError as error:
            self._outage.failed(error, self._reader.path)
            self._reader.reopen()
            return []
        self._outage.passed()
        return records

    def progress(self) -> ReadBytes | None:
        """See `streamlin.events.Source`; bytes on disk, None when following."""
        return self._reader.progress()

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Nothing to do: a file keeps its records."""

    def close(self) -> None:
        self._reader.close()
