"""gzip and Zstandard, selected by the suffix of a path."""

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

    name : its name in messages.
    decoder, encoder : create one for a new member (gzip) or frame (Zstandard).
    error : raised by a decoder for damaged data.
    piece : the number of compressed bytes to decompress at once, so that they become a few megabytes at most.
    block, end : an encoder's flush modes: make everything so far readable; complete the member or frame.
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
        encoder=lambda: zlib.compressobj(1, zlib.DEFLATED, wbits),  # level 6 is slower than predictions are made
        error=zlib.error,
        piece=1024,  # decompresses to at most 1032 times as much
        block=zlib.Z_SYNC_FLUSH,
        end=zlib.Z_FINISH,
    )


def _zstandard() -> Compression:
    import zstandard  # imported only if needed, to save start-up time

    return Compression(
        "Zstandard",
        decoder=lambda: zstandard.ZstdDecompressor().decompressobj(),
        encoder=lambda: zstandard.ZstdCompressor(write_checksum=True).compressobj(),
        error=zstandard.ZstdError,
        piece=128,  # 4 bytes can decompress to 128 KiB
        block=zstandard.COMPRESSOBJ_FLUSH_BLOCK,
        end=zstandard.COMPRESSOBJ_FLUSH_FINISH,
    )
