"""Decoding and encoding UTF-8."""

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import DecodeError, RecordError
from streamlin.events import BOM, Records, behind_marks

__all__ = ["BOM", "Indices", "check_utf8", "encoding_error", "spans", "texts_of", "utf8"]

Indices = NDArray[np.int64]
_LF, _CR = b"\n\r"


def utf8(text: str) -> bytes:
    """The text as UTF-8. Raises RecordError for a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise encoding_error(error) from None


def spans(records: Records, kept: Indices) -> tuple[Indices, Indices]:
    """Where the kept records begin, behind NULs and byte order marks, and where they end, before one last line end."""
    starts, _ = behind_marks(records.data, records.starts[kept], records.ends[kept])
    return starts, _before_line_ends(records.data, starts, records.ends[kept])


def _before_line_ends(data: bytes, starts: Indices, ends: Indices) -> Indices:
    """`ends` moved before the `\\n` or `\\r\\n` that a record of a source of whole messages may end with."""
    buffer = np.frombuffer(data, np.uint8)
    if not buffer.size:
        return ends
    fed = buffer[ends - 1] == _LF
    if not fed.any():
        return ends
    fed &= starts < ends
    ends = ends - fed
    ends -= fed & (starts < ends) & (buffer[ends - 1] == _CR)
    return ends


def texts_of(data: bytes, starts: Indices, ends: Indices) -> list[str]:
    """`data[start:end]` as text for each pair. Raises DecodeError."""
    try:
        return [str(data[start:end], "utf-8") for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DecodeError(f"not UTF-8: byte 0x{byte:02x} at position {error.start}") from None


def check_utf8(data: bytes, starts: Indices, ends: Indices) -> None:
    """Raises DecodeError if any of the records is not UTF-8, also in parts that are not read."""
    first = np.frombuffer(data, np.uint8)[starts[starts < ends]]
    whole = data[starts[0] : ends[-1]] if starts.size else b""
    if whole.isascii() or (_is_utf8(whole) and not ((first & 0xC0) == 0x80).any()):
        return
    texts_of(data, starts, ends)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def encoding_error(error: UnicodeEncodeError) -> RecordError:
    """The error for a text with a lone surrogate."""
    return RecordError(f"{error.object[error.start]!r} at position {error.start} can't be encoded as UTF-8")
