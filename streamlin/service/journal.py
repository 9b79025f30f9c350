"""The write-ahead log of a service: accepted events, kept until no checkpoint needs them."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamlin.errors import CheckpointError, ConnectorError
from streamlin.events import Position
from streamlin.storage.own_files import OWN, open_file

_SEGMENT = re.compile(r"requests-(\d{16})\.jsonl")
_SEGMENT_BYTES = 64 << 20
_BLOCK = 1 << 16
_APPENDING = os.O_RDWR | os.O_APPEND


class Journal:
    """Lines that are durable once `append` returns; only then can they be read.

    They are stored in consecutive segments, `requests-<offset of the first byte>.jsonl`. One thread appends, another
    one reads and forgets. The process that holds the folder's checkpoint owns the journal too.

    Parameters
    ----------
    folder : the folder of the checkpoint.
    position : where the checkpoint continues: `byte`, and `offset`, the number of lines before it; None: at the start.
    segment_bytes : a segment of at least this size is followed by a new one.
    mode : permissions of the segments, see `streamlin.storage.own_files`.

    Attributes
    ----------
    begin, lines : the number of lines before `position`, and in all.
    ended : whether `end` was called: no more lines will be appended.

    Raises
    ------
    ConnectorError : the journal can't be written, or its segments do not belong to the checkpoint.
    CheckpointError : the position does not name a byte.
    """

    def __init__(
        self, folder: Path, position: Position | None, segment_bytes: int = _SEGMENT_BYTES, mode: int = OWN
    ) -> None:
        self._folder, self._segment_bytes, self._mode = folder, segment_bytes, mode
        self._news = threading.Condition()
        self._failure: ConnectorError | None = None
        self.ended = False
        if position and not (type(position.get("byte")) is int and position["byte"] >= 0):
            raise CheckpointError(f"the checkpoint's position in the requests is not as expected: {position!r:.200}")
        self.begin = self.lines = position["offset"] if position else 0
        self._read: tuple[int, int] | None = None
        begin = position["byte"] if position else 0
        with self._failing():
            self._bases = sorted(int(found[1]) for found in map(_SEGMENT.fullmatch, os.listdir(folder)) if found)
            if not self._bases:
                self._bases = [begin]
            self._file = open_file(self._path(self._bases[-1]), _APPENDING, self._mode)
            try:
                self._end = self._bases[-1] + self._cut_off_torn_line()
                os.fsync(self._file)
                _sync(folder)
                self._check(begin)
                self._count(begin)
            except BaseException:
                self.close()
                raise

    def append(self, data: bytes, lines: int) -> None:
        """Make whole lines durable, then readable.

        Raises
        ------
        ConnectorError : the disk is full or broken. Nothing can be appended after that, and the reader gets the error.
        """
        if self._failure is not None:
            raise self._failure
        try:
            with self._failing():
                if self._end - self._bases[-1] >= self._segment_bytes:
                    self._begin_segment()
                view = memoryview(data)
                while view:
                    view = view[os.write(self._file, view) :]
                os.fdatasync(self._file)
        except ConnectorError as error:
            with self._news:
                self._failure = error  # how much of it is on disk is unknown until the next start
                self._news.notify_all()
            raise
        with self._news:
            self._end += len(data)
            self.lines += lines
            self._news.notify_all()

    def end(self) -> None:
        """Declare that no more lines will be appended."""
        with self._news:
            self.ended = True
            self._news.notify_all()

    def wait(self, byte: int, seconds: float) -> bool:
        """Wait for lines from an offset on; whether there are any. Raises ConnectorError if there never will be."""
        with self._news:
            self._news.wait_for(lambda: self._end > byte or self.ended or self._failure is not None, seconds)
            if self._end > byte:
                return True
            if self._failure is not None:
                raise self._failure
            return False

    def read(self, byte: int) -> bytes:
        """Whole lines from an offset on, at least one, which must exist. Raises ConnectorError."""
        with self._news:
            base = next(base for base in reversed(self._bases) if base <= byte)
            end = min((base for base in self._bases if base > byte), default=self._end)
        size = _BLOCK
        with self._failing():
            while True:
                data = os.pread(self._reading(base), min(size, end - byte), byte - base)
                whole = data.rfind(b"\n") + 1
                if whole:
                    return data[:whole]
                if len(data) < min(size, end - byte):
                    raise ConnectorError(f"{self._path(base)} was truncated while the service was running")
                size *= 4

    def forget(self, byte: int) -> None:
        """Delete the segments that end before an offset. Raises ConnectorError."""
        while len(self._bases) > 1 and self._bases[1] <= byte:
            with self._failing():
                self._path(self._bases[0]).unlink(missing_ok=True)
            with self._news:
                del self._bases[0]

    def close(self) -> None:
        """Close the files."""
        os.close(self._file)
        if self._read is not None:
            os.close(self._read[1])
            self._read = None

    def _path(self, base: int) -> Path:
        return self._folder / f"requests-{base:016}.jsonl"

    def _reading(self, base: int) -> int:
        """The descriptor of a segment, open for reading."""
        if self._read is not None and self._read[0] != base:
            os.close(self._read[1])
            self._read = None
        if self._read is None:
            self._read = base, os.open(self._path(base), os.O_RDONLY | os.O_CLOEXEC)
        return self._read[1]

    def _begin_segment(self) -> None:
        os.close(self._file)
        self._file = open_file(self._path(self._end), _APPENDING, self._mode)
        _sync(self._folder)
        with self._news:
            self._bases.append(self._end)

    def _cut_off_torn_line(self) -> int:
        """Remove a line that a crash left unfinished, and that no client got an answer for; the last segment's size."""
        size = end = os.fstat(self._file).st_size
        while end:
            begin = max(0, end - _BLOCK)
            found = os.pread(self._file, end - begin, begin).rfind(b"\n")
            end = begin + found + 1 if found >= 0 else begin
            if found >= 0:
                break
        if end < size:
            os.ftruncate(self._file, end)
        return end

    def _check(self, begin: int) -> None:
        """Raise ConnectorError unless the segments follow each other without a gap, and cover `begin`."""
        for base, following in zip(self._bases, [*self._bases[1:], self._end], strict=True):
            path = self._path(base)
            if base + path.stat().st_size != following:
                raise ConnectorError(f"{path} was changed: it should end at offset {following} of the requests")
        if not self._bases[0] <= begin <= self._end:
            raise ConnectorError(
                f"the checkpoint in {self._folder} continues at offset {begin} of the requests, but its files hold "
                f"{self._bases[0]} to {self._end}: they do not belong together"
            )

    def _count(self, byte: int) -> None:
        while byte < self._end:
            data = self.read(byte)
            self.lines += data.count(b"\n")
            byte += len(data)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ConnectorError(f"the requests in {self._folder} can't be stored: {error.strerror}") from None


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
