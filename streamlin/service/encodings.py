"""Compressed bodies of requests, decoded up to a size."""

import gzip
import io
import zlib
from collections.abc import Callable, Sequence

import zstandard

from streamlin.service.problems import Refused

_LARGEST_WINDOW = 1 << 23
"""Bytes; the largest that a Zstandard body may need, by RFC 9659."""


def _gzip(body: bytes, size: int) -> bytes:
    return gzip.GzipFile(fileobj=io.BytesIO(body)).read(size)


def _deflate(body: bytes, size: int) -> bytes:
    """The format of zlib; some clients send it without its header."""
    try:
        decoder = zlib.decompressobj()
        found = decoder.decompress(body, size)
    except zlib.error:
        decoder = zlib.decompressobj(-zlib.MAX_WBITS)
        found = decoder.decompress(body, size)
    if len(found) < size and (decoder.unused_data or not decoder.eof):
        raise EOFError
    return found


def _zstd(body: bytes, size: int) -> bytes:
    """A body that is not whole gives what there is of it, which is not JSON."""
    decoder = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    return decoder.stream_reader(body, read_across_frames=True).read(size)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {"gzip": _gzip, "deflate": _deflate, "zstd": _zstd}
"""The first bytes of the decoded body, up to a size."""
_KNOWN = ", ".join(_DECODERS)


def encoding_of(headers: Sequence[str]) -> str | None:
    """The encoding that headers Content-Encoding name; None: the body is as it is. Raises Refused for another one."""
    named = ",".join(headers).lower()
    names = [name for part in named.split(",") if (name := part.strip()) not in ("", "identity")]
    if not names:
        return None
    name = names[0].removeprefix("x-")
    if len(names) > 1 or name not in _DECODERS:
        found = f"Content-Encoding: expected one of {_KNOWN}, got '{', '.join(names):.60}'"
        raise Refused(415, found, {"Accept-Encoding": _KNOWN})
    return name


def decoded(body: bytes, encoding: str, most: int) -> bytes:
    """The decoded body.

    Raises
    ------
    Refused : it is larger than `most` bytes, or not in that encoding.
    """
    try:
        found = _DECODERS[encoding](body, most + 1)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError):
        raise Refused(
            400, f"the body is not {encoding}, as its header Content-Encoding says, or not all of it"
        ) from None
    if len(found) > most:
        raise Refused(413, f"the decoded body is over serve.max_body_bytes = {most:,}", {"Connection": "close"})
    return found
