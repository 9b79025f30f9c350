"""Reads a plain file, and detects when it is truncated or overwritten."""

import os

from connectors.records import FINGERPRINT, HEAD


class ChangedError(Exception):
    """The bytes before the position have changed: the file was truncated or overwritten."""


class PlainFile:
    """The bytes of an open file.

    Every read includes the bytes just before its position, in the same system call. The size alone does not reveal a
    file that was truncated and has since grown past the position again.

    offset : where the next read begins. head : the file's first bytes, up to `HEAD` and up to the offset.
    before : up to `FINGERPRINT` bytes before the offset.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.head = self.before = b""
        self.offset = 0

    @property
    def disk_offset(self) -> int:
        """The number of bytes of the file that are read."""
        return self.offset

    def seek(self, offset: int) -> bool:
        """Go to an offset; False if it is beyond the file's end."""
        known = min(FINGERPRINT, offset)
        self.offset = offset
        self.head = os.pread(self._descriptor, min(HEAD, offset), 0)
        self.before = os.pread(self._descriptor, known, offset - known)
        return len(self.before) == known

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the current end of the file. Raises ChangedError, OSError."""
        known = len(self.before)
        data = os.pread(self._descriptor, known + size, self.offset - known)
        if data[:known] != self.before:
            raise ChangedError
        if len(self.head) < HEAD:
            self.head += data[known : known + HEAD - len(self.head)]
        self.before = data[-FINGERPRINT:]
        self.offset += len(data) - known
        return data[known:]
