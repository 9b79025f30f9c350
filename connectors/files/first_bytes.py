"""What the first bytes of an input tell: compressed files and archives, and encodings other than UTF-8."""

import numpy as np

from streamlin.errors import ConnectorError

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x04\x22\x4d\x18": "lz4",
}
_SKIPPABLE = b"\x2a\x4d\x18"
_TAR, _TAR_AT = b"ustar", 257
_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}

SAMPLE = 4096
"""The number of bytes that are looked at."""

LEAST = 16
"""With fewer bytes than this the encoding of a text without a mark can't be told."""

_LONG_LINE = 64 * 1024

_SHARE = 0.2
"""Text has this share of characters below 256 at least: line ends, blanks, punctuation, the keys of JSON."""


def packing(head: bytes) -> str | None:
    """The name of the compression or archive that begins with these bytes; None for anything else."""
    if head[1:4] == _SKIPPABLE and head[0] & 0xF0 == 0x50:
        return "Zstandard"
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "tar"
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def check_is_text(head: bytes, part: str) -> None:
    """Raise ConnectorError if an input that begins with `head` is UTF-16, UTF-32, compressed, or an archive."""
    head = head[:SAMPLE]
    name = _name(part)
    if kind := packing(head):
        raise ConnectorError(
            f"{name} is {kind} data where text was expected (it begins with {head[:8]!r}); "
            f"unpack it and read the result, for instance by a pipe into '-'"
        )
    if encoding := _encoding(head):
        raise ConnectorError(
            f"{name} is {encoding}, expected UTF-8; convert it, for instance by iconv -f {encoding} -t UTF-8"
        )


def check_line_ends(head: bytes, part: str, final: bool) -> None:
    """Raise ConnectorError if the lines of an input that begins with `head` end in carriage returns only.

    final : `head` is all of it; else it is believed only if it is long.
    """
    if b"\n" in head or not (final or len(head) >= _LONG_LINE):
        return
    if ends := head.strip(b"\r").count(b"\r"):
        raise ConnectorError(
            f"{_name(part)} has {ends:,} carriage returns and no line feed in its first {len(head):,} bytes; "
            "lines must end in a line feed: convert it, for instance by tr '\\r' '\\n'"
        )


def _name(part: str) -> str:
    return "standard input" if part == "-" else part


def _encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32, by a mark or by the places of NULs in the text; None for anything else."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark) and b"\0" in head:  # a line feed has a NUL beside it; else one record is garbled
            return encoding
    text = head.lstrip(b"\0")
    hole = (len(head) - len(text)) // 4 * 4  # a hole of NULs is no text; at most 3 NULs belong to the first character
    units = np.frombuffer(head[hole : hole + (len(head) - hole) // 4 * 4], np.uint8).reshape(-1, 4) == 0
    if len(units) * 4 < LEAST:
        return None
    share = units.mean(axis=0)
    if share[2] > 1 - _SHARE and share[3] == 1 and not share[0]:
        return "UTF-32LE"
    if share[1] > 1 - _SHARE and share[0] == 1 and not share[3]:
        return "UTF-32BE"
    if min(share[1], share[3]) >= _SHARE and not share[0] and not share[2]:
        return "UTF-16LE"
    if min(share[0], share[2]) >= _SHARE and not share[1] and not share[3]:
        return "UTF-16BE"
    return None
