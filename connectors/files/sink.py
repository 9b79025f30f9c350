"""Appends lines to a file."""

import os
import stat

from connectors.failures import connector_errors
from connectors.files.compression import Encoder, compression
from connectors.options import check_options
from connectors.writing import write_all
from streamlin.errors import ConfigError, ConnectorError
from streamlin.events import SinkContext


class FileSink:
    """Appends lines to a file, compressed if its suffix is `.gz` or `.zst`.

    Every `sync` completes a gzip member or Zstandard frame, so that the file can be cut back to the length it returns.

    Parameters
    ----------
    address : the file's path; its folder must exist.
    options : `mode`, for a fresh start: `fresh` (default; the file must be new or empty), `append`, or `overwrite`.
    length : the file's length in the checkpoint, to which it is cut back. None on a fresh start.

    Raises
    ------
    ConfigError : an unknown option, or `mode=fresh` and a file with content.
    ConnectorError : the file can't be opened, or is shorter than `length`.
    """

    def __init__(self, address: str, context: SinkContext) -> None:
        options, length = context.options, context.length
        check_options("file sink", options, {"mode": ("fresh", "append", "overwrite")})
        self._path, self._compression = address, compression(address)
        self._encoder: Encoder | None = None
        self._unflushed = False
        self._descriptor = -1
        if length and not os.path.exists(address):
            raise _shorter(address, "is missing", length)
        with connector_errors(f"{address} can't be written to"):
            descriptor = _opened(address, create=not length)
        try:
            self._regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
            if self._regular:
                self._prepare(descriptor, options.get("mode", "fresh"), length)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def write(self, lines: bytes | memoryview) -> None:
        """Append whole lines."""
        if self._compression is None:
            self._append(lines)
            return
        if self._encoder is None:
            self._encoder = self._compression.encoder()
        self._unflushed = True
        self._append(self._encoder.compress(lines))

    def flush(self) -> None:
        """Make everything written so far readable."""
        if self._encoder is not None and self._compression is not None and self._unflushed:
            self._append(self._encoder.flush(self._compression.block))
            self._unflushed = False

    def sync(self) -> int | None:
        """Make everything written so far durable; returns the file's length, None for a pipe or device."""
        self._complete()
        if not self._regular:
            return None
        with connector_errors(f"{self._path} can't be written to"):
            os.fsync(self._descriptor)
            return os.fstat(self._descriptor).st_size

    def close(self) -> None:
        """Complete and close the file; does nothing if it is closed."""
        if self._descriptor < 0:
            return
        try:
            self._complete()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1

    def _complete(self) -> None:
        """Complete the current gzip member or Zstandard frame, if any."""
        if self._encoder is not None and self._compression is not None:
            encoder, self._encoder = self._encoder, None
            self._unflushed = False
            self._append(encoder.flush(self._compression.end))

    def _append(self, data: bytes | memoryview) -> None:
        try:
            write_all(self._descriptor, data, self._path)
        except ConnectorError:
            self._encoder = None  # its output would not continue what is in the file
            raise

    def _prepare(self, descriptor: int, mode: str, length: int | None) -> None:
        """Cut the file to the length at which writing begins, or check that it may be appended to."""
        size = os.fstat(descriptor).st_size
        if length is not None and size < length:
            raise _shorter(self._path, f"has {size} bytes", length)
        if length is None and mode == "fresh" and size:
            raise ConfigError(
                f"{self._path} exists and has content; add ?mode=append to keep it or ?mode=overwrite to replace it"
            )
        with connector_errors(f"{self._path} can't be written to"):
            if length is not None or mode == "overwrite":
                os.ftruncate(descriptor, length or 0)
            elif size and self._compression is None and _last_byte(self._path) != b"\n":
                write_all(descriptor, b"\n", self._path)  # an incomplete line, left by a kill, gets a line of its own


def _shorter(path: str, state: str, length: int) -> ConnectorError:
    return ConnectorError(
        f"{path} {state}, but the checkpoint expects {length} bytes; restore the file, or start without the checkpoint"
    )


def _last_byte(path: str) -> bytes:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


def _opened(path: str, create: bool) -> int:
    """A descriptor for appending; if the file is created, its folder is synced."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
    if create and not os.path.exists(path):
        descriptor = os.open(path, flags | os.O_CREAT, 0o666)
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return descriptor
    return os.open(path, flags)
