"""Records whose positions identify the file they come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from streamlin.events import Position, Records

FINGERPRINT = 64
"""The number of bytes before a position that are compared to recognize the file."""


@dataclass
class PartRecords(Records):
    """Records of one part of a source of bytes: a file, or standard input.

    key : the part's name in a checkpoint.
    identity : device and inode of the file; empty for a stream that can't be read again.
    base : offset in the part of `data[0]`.
    previous : up to `FINGERPRINT` bytes before `base`.
    damaged : if the last record is the incomplete end of a damaged file, the number of good bytes in the file.
    """

    key: str = "-"
    identity: Mapping[str, int] = field(default_factory=dict)
    base: int = 0
    previous: bytes = b""
    damaged: int | None = None

    def position(self, count: int) -> Position:
        """`offset`, `device`, `inode` and `before`, the bytes before the offset in hexadecimal."""
        position = super().position(count)
        if not self.identity:
            return position
        position |= {**self.identity, "before": self.before(position["offset"]).hex()}
        if self.damaged is not None and count == len(self):
            position["damaged"] = self.damaged
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


@dataclass(frozen=True)
class Origin:
    """The part that records come from: its name in messages, its key in checkpoints, its file's device and inode."""

    part: str
    key: str
    identity: Mapping[str, int] = field(default_factory=dict)
