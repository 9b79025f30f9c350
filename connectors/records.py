"""Records whose positions identify the file they come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from streamlin.events import Position, Records

FINGERPRINT = 64
"""The number of bytes before a position that are compared to recognize the file."""

HEAD = 4096
"""The number of bytes at a file's beginning whose digest is compared, too."""


def digest(data: bytes) -> str:
    """A digest of a file's first bytes."""
    return blake2b(data, digest_size=16).hexdigest()


@dataclass
class PartRecords(Records):
    """Records of one part of a source of bytes: a file, or standard input.

    key : the part's name in a checkpoint.
    identity : device, inode and path of the file; empty for a stream that can't be read again.
    base : offset in the part of `data[0]`.
    previous : up to `FINGERPRINT` bytes before `base`.
    head : the file's first bytes, up to `HEAD`.
    size : of a plain file when it was read, in bytes.
    damaged : if the last record is the incomplete end of a damaged file, the number of good bytes in the file.
    unended : whether the last record ends with the file, without a line end: it may have been read too early.
    """

    key: str = "-"
    identity: Mapping[str, Any] = field(default_factory=dict)
    base: int = 0
    previous: bytes = b""
    head: bytes | None = None
    size: int | None = None
    damaged: int | None = None
    unended: bool = False

    def position(self, count: int) -> Position:
        """See `position_in`.

        Behind the incomplete end of a damaged file it also has `damaged` and the error, behind a last line without end
        `unended`, where the line begins.
        """
        offset = super().position(count)["offset"]
        if not self.identity:
            return {"offset": offset}
        position = position_in(self.identity, offset, self.before(offset), self.head, self.size)
        if self.damaged is not None and count == len(self):
            position |= {"damaged": self.damaged, "error": self.errors[count - 1]}
        if self.unended and count == len(self):
            position["unended"] = int(self.offsets[count - 1])
        return position

    def before(self, offset: int) -> bytes:
        """Up to `FINGERPRINT` bytes before an offset in the part, which must be in `data` or at its end."""
        index, length = offset - self.base, min(FINGERPRINT, offset)
        if index >= length:
            return self.data[index - length : index]
        return (self.previous + self.data[:index])[-length:]

    def between(self, begin: int, end: int) -> "PartRecords":
        """The records from `begin` to `end`; the buffer is shared."""
        end = min(end, len(self))
        return replace(
            self,
            starts=self.starts[begin:end],
            ends=self.ends[begin:end],
            offsets=self.offsets[begin:end],
            nexts=self.nexts[begin:end],
            errors={i - begin: error for i, error in self.errors.items() if begin <= i < end},
            mended=None if begin else self.mended,
        )

    def without(self, left_out: Sequence[int]) -> "PartRecords":
        """Without the records of these numbers; the buffer is shared."""
        kept = np.delete(np.arange(len(self)), left_out)
        return replace(
            self,
            starts=self.starts[kept],
            ends=self.ends[kept],
            offsets=self.offsets[kept],
            nexts=self.nexts[kept],
            errors={i: self.errors[old] for i, old in enumerate(kept.tolist()) if old in self.errors},
        )


def position_in(
    identity: Mapping[str, Any], offset: int, before: bytes, head: bytes | None, size: int | None
) -> Position:
    """A position in a file.

    It holds `offset`; `head`, the digest of the first `HEAD` bytes, or of all bytes before the offset if these are
    fewer; `before`, the bytes before the offset in hexadecimal; and what helps to find the file, `identity` and `size`.
    """
    position = {"offset": offset, **identity, "before": before.hex()}
    if head is not None:
        position["head"] = digest(head[:offset])
    return position if size is None else position | {"size": size}


@dataclass(frozen=True)
class Origin:
    """The part that records come from: its name in messages, its key in checkpoints, and where its file is."""

    part: str
    key: str
    identity: Mapping[str, Any] = field(default_factory=dict)
