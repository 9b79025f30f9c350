"""Reads a compressed file, up to the last good byte of a damaged one."""

import os
from collections.abc import Iterator

from connectors.files.compression import Compression, Decoder
from connectors.records import FINGERPRINT, HEAD
from streamlin.errors import ConnectorError

BLOCK = 256 * 1024


class DamagedError(Exception):
    """The file is truncated or damaged at a place given in the message. Raised once, after all good bytes were read."""


class TrailingError(DamagedError):
    """Behind the last member or frame is something else, described in the message. All members were read."""


class CompressedFile:
    """The decompressed bytes of an open file with any number of gzip members or Zstandard frames.

    offset : decompressed bytes read. disk_offset : bytes of the file read.
    head : the first decompressed bytes, up to `HEAD`. before : up to `FINGERPRINT` bytes before the offset.
    """

    def __init__(self, descriptor: int, compression: Compression) -> None:
        self._descriptor, self._compression = descriptor, compression
        self._outputs = self._decompressed()
        self._buffered = b""
        self._damage: DamagedError | None = None
        self._block, self._block_at = b"", 0
        self.head = self.before = b""
        self.offset = 0
        self.disk_offset = 0

    def seek(self, offset: int) -> bool:
        """Skip forward to an offset; False if it is beyond the file's end."""
        while self.offset < offset and self._read(min(BLOCK, offset - self.offset)):
            pass
        return self.offset == offset

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer at the end, then none. Raises DamagedError, ConnectorError, OSError."""
        data = self._read(size)
        if not data and self._damage is not None:
            damage, self._damage = self._damage, None
            raise damage
        return data

    def _read(self, size: int) -> bytes:
        pieces, missing = [self._buffered], size - len(self._buffered)
        while missing > 0 and (piece := next(self._outputs, b"")):
            pieces.append(piece)
            missing -= len(piece)
        data = b"".join(pieces)
        data, self._buffered = data[:size], data[size:]
        self.offset += len(data)
        if len(self.head) < HEAD:
            self.head += data[: HEAD - len(self.head)]
        self.before = (self.before + data[-FINGERPRINT:])[-FINGERPRINT:]
        return data

    def _decompressed(self) -> Iterator[bytes]:
        """Decompressed bytes in non-empty pieces; sets `_damage` if the file is damaged."""
        decoder: Decoder | None = None
        begin = at = 0
        while piece := self._piece(at):
            if decoder is None:
                padding = len(piece) - len(piece.lstrip(b"\0")) if at else 0
                if padding:
                    at += padding
                    continue
                if at and not self._compression.begins(piece):
                    self._damage = self._trailing(at, piece)
                    return
                decoder, begin = self._compression.decoder(), at
            try:
                data = decoder.decompress(piece)
            except self._compression.error as error:
                _check_window(error)
                yield self._salvaged(begin, at)
                return
            at += len(piece) - len(decoder.unused_data)
            self.disk_offset = at
            if decoder.eof:
                decoder = None
            if data:
                yield data
        if decoder is not None:
            self._damage = DamagedError(f"the {self._compression.name} file is cut off at byte {at}")

    def _piece(self, at: int) -> bytes:
        """The compressed bytes from offset `at`, up to the size of a piece."""
        index = at - self._block_at
        if index >= len(self._block):
            self._block, self._block_at, index = os.pread(self._descriptor, BLOCK, at), at, 0
        return self._block[index : index + self._compression.piece]

    def _salvaged(self, begin: int, at: int) -> bytes:
        """The good bytes of the damaged piece at `at`, in the member that begins at `begin`.

        A decoder returns nothing for a piece in which it finds damage. The member is therefore decompressed again, the
        damaged piece byte by byte.
        """
        decoder, salvaged = self._compression.decoder(), []
        for position in range(begin, at, self._compression.piece):
            decoder.decompress(self._piece(position)[: at - position])
        try:
            for byte in self._piece(at):
                salvaged.append(decoder.decompress(bytes((byte,))))
                at += 1
        except self._compression.error as error:
            self._damage = DamagedError(f"the {self._compression.name} file is damaged at byte {at} ({error})")
        return b"".join(salvaged)

    def _trailing(self, at: int, piece: bytes) -> TrailingError:
        size = os.fstat(self._descriptor).st_size - at
        return TrailingError(
            f"{size:,} bytes behind the {self._compression.name} data, from byte {at} on, are not read; "
            f"they begin with {piece[:16]!r}"
        )


def _check_window(error: Exception) -> None:
    """Raise ConnectorError if a Zstandard frame asks for more memory than is allowed."""
    if "too much memory" in str(error):
        raise ConnectorError(
            "the Zstandard data needs a larger window; add the option long=N, N being that of zstd --long=N "
            "(up to 31); it takes 2^N bytes of memory"
        ) from error
