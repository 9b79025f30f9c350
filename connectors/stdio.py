"""`-`: standard input and output; and `null://`, a sink that discards everything."""

import os
import select
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from connectors.failures import connector_errors
from connectors.files.record_cutter import RecordCutter
from connectors.options import check_options
from connectors.polling import PAUSE, PolledSource
from connectors.records import Origin, PartRecords
from connectors.writing import write_all
from streamlin.errors import masked_json
from streamlin.events import Position, SinkContext, SourceContext

BLOCK = 512 * 1024
_STDIN, _STDOUT = 0, 1


class StdinSource(PolledSource):
    """Records of standard input, each as soon as it is complete; ends with the input.

    Standard input can't be read again: offsets begin at 0, whatever the checkpoint's position.

    Raises
    ------
    ConfigError : any option is given; the source has none.
    """

    def __init__(self, address: str, context: SourceContext) -> None:
        super().__init__()
        check_options("stdin source", context.options, {})
        if context.positions:
            context.notice("standard input can't be rewound; reading goes on from its current position")
        self._cutter = RecordCutter(Origin("-", "-"), context.framing, context.max_record_bytes, notice=context.notice)
        self._at_end = False

    @staticmethod
    def reads(address: str, paths: Sequence[str]) -> list[str]:
        """Those of `paths` that are the file behind standard input, if there is one."""
        with suppress(OSError):
            given = os.fstat(_STDIN)
            return [path for path in paths if os.path.exists(path) and os.path.samestat(given, os.stat(path))]
        return []

    def read(self) -> list[PartRecords] | None:
        """The records of the input that is available now, up to about `BLOCK` bytes."""
        if self._at_end:
            return None
        if not _readable(PAUSE):
            return []
        with connector_errors("standard input can't be read"):
            block = self._read_block()
        return self._cutter.feed(block, final=self._at_end)

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Nothing to do: a stream can't be read again."""

    def close(self) -> None:
        """Standard input stays open."""

    def _read_block(self) -> bytes:
        """The available input; reads are combined for up to `PAUSE` seconds, since a pipe returns little at a time."""
        pieces, size, deadline = [], 0, time.monotonic() + PAUSE
        while size < BLOCK and (not size or _readable(0)) and time.monotonic() < deadline:
            piece = os.read(_STDIN, BLOCK)
            if not piece:
                self._at_end = True
                break
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)


def _readable(seconds: float) -> bool:
    with connector_errors("standard input can't be read"):
        return bool(select.select([_STDIN], [], [], seconds)[0])


class StdoutSink:
    """Writes lines to standard output, unbuffered."""

    def __init__(self, address: str, context: SinkContext) -> None:
        check_options("stdout sink", context.options, {"mode": ("append",)})
        self._is_terminal = os.isatty(_STDOUT)

    def write(self, lines: bytes | memoryview) -> None:
        """Write lines; on a terminal without what steers it. Raises ConnectorError, also if a pipe's reader is gone."""
        if self._is_terminal:
            lines = masked_json(str(lines, "utf-8", "backslashreplace")).encode()
        write_all(_STDOUT, lines, "standard output")

    def flush(self) -> None:
        """Nothing to do: writing is unbuffered."""

    def sync(self) -> None:
        """A stream has no length that it could be cut back to."""

    def close(self) -> None:
        """Standard output stays open."""


class NullSink:
    """Discards everything."""

    def __init__(self, address: str, context: SinkContext) -> None:
        check_options("null sink", context.options, {"mode": ("append",)})

    def write(self, lines: bytes | memoryview) -> None:
        """Nothing to do."""

    def flush(self) -> None:
        """Nothing to do."""

    def sync(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""
