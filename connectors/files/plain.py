"""Reading a plain file, and noticing when it is no longer the same."""

import os

from connectors.records import FINGERPRINT


class ChangedError(Exception):
    """The bytes before the position are not those that were read there: the file was truncated or overwritten."""


class PlainBytes:
    """The bytes of an open file.

    Every read fetches the bytes just before its position too, in the same call; no look at the size alone could tell
    a file that was cut to nothing and has grown past the position again.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._before = b""
        self.offset = 0

    @property
    def disk_offset(self) -> int:
        """Bytes of the file that are behind the position."""
        return self.offset

    def seek(self, offset: int, before: bytes) -> bool:
        """Go to an offset; False where the bytes before it are not `before`."""
        self.offset, self._before = offset, before
        return os.pread(self._descriptor, len(before), offset - len(before)) == before

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end of the file as it is now. Raises ChangedError, OSError."""
        known = len(self._before)
        found = os.pread(self._descriptor, known + size, self.offset - known)
        if found[:known] != self._before:
            raise ChangedError
        self._before = found[-FINGERPRINT:]
        self.offset += len(found) - known
        return found[known:]
