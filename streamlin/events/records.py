"""Records as columns over one buffer, which a source hands over and a format decodes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import spelled

BOM = b"\xef\xbb\xbf"
_NUL = b"\0"

Position = dict[str, Any]
"""Where to read next in one part of a source; JSON-able. `offset` is always there."""


@dataclass
class Records:
    """Consecutive records of one part of a source (a file, a partition), as columns over one buffer.

    data : the buffer; it may hold more than the records (line ends, bytes before the first one).
    starts, ends : int64[n]; record i is `data[starts[i]:ends[i]]`, without its line end.
    offsets : int64[n]; where record i starts in its part (for a file: in decompressed bytes).
    nexts : int64[n]; where reading resumes after record i.
    part : the part's name: a path, `-`, `topic/3`.
    header : the part's first line, if the format has a header (CSV).
    errors : record -> an error that the source has found already (too long, cut off).
    tombstones : numbers of the records that only mark something as deleted; neither events nor dead letters.
    lost : how many records before the first one existed once, and can't be read any more.
    mended : the error of a dead letter of an earlier run that no longer counts: its record is read again, from here on.
    are_messages : whether each record is a whole message: NULs before it are no hole of a file.
    anew : the part begins anew here: offsets of before, larger ones too, were those of other records.
    """

    data: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    offsets: NDArray[np.int64]
    nexts: NDArray[np.int64]
    part: str
    header: bytes | None = None
    errors: Mapping[int, str] = field(default_factory=dict)
    tombstones: Collection[int] = ()
    lost: int = 0
    mended: str | None = None
    anew: bool = False
    are_messages: bool = False

    def __len__(self) -> int:
        return self.starts.size

    def __getitem__(self, i: int) -> bytes:
        return self.data[self.starts[i] : self.ends[i]]

    @property
    def key(self) -> str:
        """What a checkpoint calls the part; unlike the name it does not depend on the working folder."""
        return self.part

    def n_bytes(self, begin: int, end: int) -> int:
        """The number of bytes of the records from `begin` up to, not including, `end`."""
        return int((self.ends[begin:end] - self.starts[begin:end]).sum())

    def name(self, i: int) -> str:
        """Record i's position for people, `part:offset`; bytes of a file name that are not UTF-8 become `\\xff`."""
        return f"{spelled(self.part)}:{self.offsets[i]}"

    def position(self, count: int) -> Position:
        """Where reading of `part` resumes after its first `count` >= 1 records."""
        return {"offset": int(self.nexts[count - 1])}

    def envelope(self, name: str, kept: NDArray[np.int64]) -> list[Any] | None:
        """The source's own column for the records `kept`, by name (a message's `key`); None if it has none."""
        return None

    def default_ids(self, kept: NDArray[np.int64]) -> list[str] | None:
        """Ids for events without an id, if the source has permanent names for its records; None if it has not."""
        return None


def behind_marks(data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """`starts` moved behind the NULs and byte order marks that records begin with, and the number of these NULs."""
    buffer = np.frombuffer(data, np.uint8)
    if not buffer.size:
        return starts, 0
    first = buffer[np.minimum(starts, len(data) - 1)]
    marked = (first == 0) | (first == BOM[0])
    if not marked.any():
        return starts, 0
    starts, nuls = starts.copy(), 0
    for i in np.flatnonzero(marked).tolist():
        record = data[starts[i] : ends[i]]
        length = len(record) - len(_without_marks(record))
        starts[i] += length
        nuls += record.count(_NUL, 0, length)
    return starts, nuls


def _without_marks(record: bytes) -> bytes:
    while record.startswith((_NUL, BOM)):
        record = record.lstrip(_NUL).removeprefix(BOM)
    return record


def single_records(payloads: Sequence[bytes], part: str = "-") -> Records:
    """Records with the given payloads; their offsets are those of lines joined by a line feed."""
    lengths = np.fromiter(map(len, payloads), np.int64, len(payloads))
    nexts = np.cumsum(lengths + 1)
    starts = nexts - lengths - 1
    return Records(b"\n".join(payloads), starts, starts + lengths, starts, nexts, part, are_messages=True)
