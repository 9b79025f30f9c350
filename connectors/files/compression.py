"""gzip and Zstandard, told by the suffix of a path."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class Decoder(Protocol):
    """Decompresses one gzip member or Zstandard frame."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class Encoder(Protocol):
    """Compresses one gzip member or Zstandard frame."""

    def compress(self, data: bytes | memoryview, /) -> bytes: ...

    def flush(self, mode: int, /) -> bytes: ...


@dataclass(frozen=True)
class Compression:
    """How one kind of file is read and written.

    name : for people.
    decoder, encoder : begin a member (gzip) or frame (Zstandard).
    error : what a decoder raises for damaged data.
    piece : so many compressed bytes never become more than a few megabytes.
    block, end : an encoder's flush modes: all can be read so far; the member or frame is complete.
    """

    name: str
    decoder: Callable[[], Decoder]
    encoder: Callable[[], Encoder]
    error: type[Exception]
    piece: int
    block: int
    end: int


def compression(path: str) -> Compression | None:
    """The compression of a path; None for a plain file."""
    if path.lower().endswith(".gz"):
        return _gzip()
    if path.lower().endswith(".zst"):
        return _zstandard()
    return None


def _gzip() -> Compression:
    wbits = 16 + zlib.MAX_WBITS  # with gzip's header and trailer
    return Compression(
        "gzip",
        decoder=lambda: zlib.decompressobj(wbits),
        encoder=lambda: zlib.compressobj(1, zlib.DEFLATED, wbits),  # predictions are written faster than level 6 can
        error=zlib.error,
        piece=1024,  # 1032 times that at most
        block=zlib.Z_SYNC_FLUSH,
        end=zlib.Z_FINISH,
    )


def _zstandard() -> Compression:
    import zstandard  # costs start-up time

    return Compression(
        "Zstandard",
        decoder=lambda: zstandard.ZstdDecompressor().decompressobj(),
        encoder=lambda: zstandard.ZstdCompressor(write_checksum=True).compressobj(),
        error=zstandard.ZstdError,
        piece=128,  # 4 bytes can stand for 128 KiB
        block=zstandard.COMPRESSOBJ_FLUSH_BLOCK,
        end=zstandard.COMPRESSOBJ_FLUSH_FINISH,
    )
