"""gzip and Zstandard, selected by the suffix of a path, or by the first bytes of a file."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from connectors.files.first_bytes import packing
from streamlin.errors import ConnectorError

DEFAULT_WINDOW_LOG = 27
"""128 MiB, the default of the command `zstd`; one of its files may ask for more by `--long=31`."""


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
    begins : whether bytes are, as far as they go, the beginning of a member or frame.
    """

    name: str
    decoder: Callable[[], Decoder]
    encoder: Callable[[], Encoder]
    error: type[Exception]
    piece: int
    block: int
    end: int
    begins: Callable[[bytes], bool]


def compression(path: str) -> Compression | None:
    """The compression of a path; None for a plain file."""
    if path.lower().endswith(".gz"):
        return _gzip()
    if path.lower().endswith(".zst"):
        return _zstandard()
    return None


def compression_of(path: str, head: bytes, window_log: int = DEFAULT_WINDOW_LOG) -> Compression | None:
    """The compression of a file that begins with `head`, whatever its suffix; None for a plain file.

    window_log : the largest window that a Zstandard frame may ask for, as a power of two.
    Raises ConnectorError if the suffix names a compression and the file begins as something else.
    """
    packed = packing(head)
    if packed == "gzip":
        return _gzip()
    if packed == "Zstandard":
        return _zstandard(window_log)
    named = compression(path)
    if named is not None and not named.begins(head):
        advice = f"unpack it, it is {packed} data" if packed else "rename it if it is plain text"
        raise ConnectorError(f"{path} is no {named.name} file, it begins with {head[:16]!r}; {advice}")
    return named


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
        begins=lambda data: data[:2] == b"\x1f\x8b"[: len(data)],
    )


def _zstandard(window_log: int = DEFAULT_WINDOW_LOG) -> Compression:
    import zstandard  # imported only if needed, to save start-up time

    return Compression(
        "Zstandard",
        decoder=lambda: zstandard.ZstdDecompressor(max_window_size=1 << window_log).decompressobj(),
        encoder=lambda: zstandard.ZstdCompressor(write_checksum=True).compressobj(),
        error=zstandard.ZstdError,
        piece=128,  # 4 bytes can decompress to 128 KiB
        block=zstandard.COMPRESSOBJ_FLUSH_BLOCK,
        end=zstandard.COMPRESSOBJ_FLUSH_FINISH,
        begins=_begins_a_frame,
    )


def _begins_a_frame(data: bytes) -> bool:
    """A frame, or a skippable frame, whose first byte is 0x50 to 0x5F."""
    skippable = data[:1] and data[0] & 0xF0 == 0x50 and data[1:4] == b"\x2a\x4d\x18"[: len(data) - 1]
    return bool(skippable) or data[:4] == b"\x28\xb5\x2f\xfd"[: len(data)]
