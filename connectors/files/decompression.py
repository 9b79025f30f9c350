"""Reading a compressed file, down to the last byte that is good."""

import os
from collections.abc import Iterator

from connectors.files.compression import Compression, Decoder
from connectors.records import FINGERPRINT

BLOCK = 256 * 1024


class DamagedError(Exception):
    """The file is cut off or damaged; says where. Raised once, after all that is good was read."""


class CompressedBytes:
    """The decompressed bytes of an open file of any number of gzip members or Zstandard frames."""

    def __init__(self, descriptor: int, compression: Compression) -> None:
        self._descriptor, self._compression = descriptor, compression
        self._outputs = self._decompressed()
        self._ahead = b""
        self._damage: str | None = None
        self._block, self._block_at = b"", 0
        self.offset = 0
        self.disk_offset = 0

    def seek(self, offset: int, before: bytes) -> bool:
        """Go to an offset from the beginning; False where it isn't there, or the bytes before it are not `before`."""
        last = b""
        while self.offset < offset:
            found = self._read(min(BLOCK, offset - self.offset))
            if not found:
                return False
            last = (last + found)[-FINGERPRINT:]
        return last[len(last) - len(before) :] == before

    def read(self, size: int) -> bytes:
        """`size` bytes, fewer at the end, then none. Raises DamagedError, OSError."""
        found = self._read(size)
        if not found and self._damage is not None:
            damage, self._damage = self._damage, None
            raise DamagedError(damage)
        return found

    def _read(self, size: int) -> bytes:
        pieces, missing = [self._ahead], size - len(self._ahead)
        while missing > 0 and (piece := next(self._outputs, b"")):
            pieces.append(piece)
            missing -= len(piece)
        found = b"".join(pieces)
        self._ahead = found[size:]
        self.offset += len(found) - len(self._ahead)
        return found[:size]

    def _decompressed(self) -> Iterator[bytes]:
        """Decompressed bytes piece by piece, none of them empty; sets `_damage` where they end early."""
        decoder: Decoder | None = None
        begin = at = 0
        while piece := self._piece(at):
            if decoder is None:
                padding = len(piece) - len(piece.lstrip(b"\0")) if at else 0
                if padding:
                    at += padding
                    continue
                decoder, begin = self._compression.decoder(), at
            try:
                found = decoder.decompress(piece)
            except self._compression.error:
                yield self._salvaged(begin, at)
                return
            at += len(piece) - len(decoder.unused_data)
            self.disk_offset = at
            if decoder.eof:
                decoder = None
            if found:
                yield found
        if decoder is not None:
            self._damage = f"the {self._compression.name} file is cut off at byte {at}"

    def _piece(self, at: int) -> bytes:
        """Some compressed bytes."""
        index = at - self._block_at
        if index >= len(self._block):
            self._block, self._block_at, index = os.pread(self._descriptor, BLOCK, at), at, 0
        return self._block[index : index + self._compression.piece]

    def _salvaged(self, begin: int, at: int) -> bytes:
        """What can still be had of the damaged piece at `at` in the member that begins at `begin`.

        A decoder gives nothing of a piece in which it finds damage; so the member is read again, that piece byte by
        byte.
        """
        decoder, salvaged = self._compression.decoder(), []
        for position in range(begin, at, self._compression.piece):
            decoder.decompress(self._piece(position)[: at - position])
        try:
            for byte in self._piece(at):
                salvaged.append(decoder.decompress(bytes((byte,))))
                at += 1
        except self._compression.error as error:
            self._damage = f"the {self._compression.name} file is damaged at byte {at} ({error})"
        return b"".join(salvaged)
