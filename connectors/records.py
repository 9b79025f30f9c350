"""Records that know the file they were cut from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streamlin.events import Position, Records

FINGERPRINT = 64
"""So many bytes before a position tell whether it is still the same file."""


@dataclass
class PartRecords(Records):
    """Records cut from one part of a stream of bytes.

    key : the part's name in a checkpoint.
    identity : device and inode of the file; empty for a stream that can't be read again.
    base : offset in the part of `data[0]`.
    previous : the up to `FINGERPRINT` bytes before `base`.
    damaged : where the last record is the unfinished rest of a damaged file, how many good bytes the file has.
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
        """The up to `FINGERPRINT` bytes before an offset of the part that lies in `data` or at its end."""
        index, length = offset - self.base, min(FINGERPRINT, offset)
        if index >= length:
            return self.data[index - length : index]
        return (self.previous + self.data[:index])[-length:]

    def between(self, begin: int, end: int) -> "PartRecords":
        """Records begin to end; the buffer is shared."""
        end = min(end, len(self))
        return replace(
            self,
            starts=self.starts[begin:end],
            ends=self.ends[begin:end],
            offsets=self.offsets[begin:end],
            nexts=self.nexts[begin:end],
            errors={i - begin: error for i, error in self.errors.items() if begin <= i < end},
        )


@dataclass(frozen=True)
class Origin:
    """The part that records come from: its name for people, its key in checkpoints, its file's device and inode."""

    part: str
    key: str
    identity: Mapping[str, int] = field(default_factory=dict)
