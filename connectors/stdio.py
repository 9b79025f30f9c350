"""`-`: standard input and output; and `null://`, which keeps nothing."""

import os
import select
import time
from collections.abc import Mapping

from connectors.failures import failing
from connectors.files.record_cutter import Cutter
from connectors.options import check_options
from connectors.polling import PAUSE, PolledSource
from connectors.records import Origin, PartRecords
from connectors.writing import write_all
from streamlin.events import Position, SinkContext, SourceContext

BLOCK = 512 * 1024
_STDIN, _STDOUT = 0, 1


class StdinSource(PolledSource):
    """Records of standard input, each as soon as its line end has come; ends with it.

    It can't be read twice: offsets begin at 0 whatever a checkpoint says.

    Raises
    ------
    ConfigError : an option; there is none.
    """

    def __init__(self, address: str, context: SourceContext) -> None:
        super().__init__()
        check_options("stdin source", context.options, {})
        if context.positions:
            context.notice("standard input can't be gone back in; it is read on from where it is")
        self._cutter = Cutter(Origin("-", "-"), context.framing, context.max_record_bytes)
        self._ended = False

    def read(self) -> list[PartRecords] | None:
        """What has come so far, up to about `BLOCK` bytes of it."""
        if self._ended:
            return None
        if not _readable(PAUSE):
            return []
        with failing("standard input can't be read"):
            block = self._gathered()
        return self._cutter.feed(block, final=self._ended)

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """A stream has forgotten already."""

    def close(self) -> None:
        """Standard input was open before, and stays so."""

    def _gathered(self) -> bytes:
        """A pipe gives little at a time; take what is there, but don't keep it back for long."""
        pieces, size, deadline = [], 0, time.monotonic() + PAUSE
        while size < BLOCK and (not size or _readable(0)) and time.monotonic() < deadline:
            piece = os.read(_STDIN, BLOCK)
            if not piece:
                self._ended = True
                break
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)


def _readable(seconds: float) -> bool:
    with failing("standard input can't be read"):
        return bool(select.select([_STDIN], [], [], seconds)[0])


class StdoutSink:
    """Lines to standard output, at once."""

    def __init__(self, address: str, context: SinkContext) -> None:
        check_options("stdout sink", context.options, {"mode": ("append",)})

    def write(self, lines: bytes | memoryview) -> None:
        """Raises ConnectorError, also where whoever reads it has gone."""
        write_all(_STDOUT, lines, "standard output")

    def flush(self) -> None:
        """Nothing is held back."""

    def sync(self) -> None:
        """A stream has no length to go back to."""

    def close(self) -> None:
        """Standard output was open before, and stays so."""


class NullSink:
    """Keeps nothing."""

    def __init__(self, address: str, context: SinkContext) -> None:
        check_options("null sink", context.options, {"mode": ("append",)})

    def write(self, lines: bytes | memoryview) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing."""

    def sync(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""
