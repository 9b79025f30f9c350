"""Reads a plain file, and detects when it is truncated or overwritten."""

import os

from connectors.records import FINGERPRINT


class ChangedError(Exception):
    """The bytes before the position have changed: the file was truncated or overwritten."""


class PlainFile:
    """The bytes of an open file.

    Every read includes the bytes just before its position, in the same system call. The size alone does not reveal a
    file that was truncated and has since grown past the position again.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._before = b""
        self.offset = 0

    @property
    def disk_offset(self) -> int:
        """The number of bytes of the file that are read."""
        return self.offset

    def seek(self, offset: int, before: bytes) -> bool:
        """Go to an offset; False if the bytes before it are not `before`."""
        self.offset, self._before = offset, before
        return os.pread(self._descriptor, len(before), offset - len(before)) == before

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the current end of the file. Raises ChangedError, OSError."""
        known = len(self._before)
        data = os.pread(self._descriptor, known + size, self.offset - known)
        if data[:known] != self._before:
            raise ChangedError
        self._before = data[-FINGERPRINT:]
        self.offset += len(data) - known
        return data[known:]
