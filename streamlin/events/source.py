"""The interface of sources."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from streamlin.events.records import Position, Records

FEW = 16
"""Less than this part of a full batch is few records: a live source gives all it has."""


class Framing(Protocol):
    """How a stream of bytes is cut into records; the format knows, and sources of bytes call it.

    Optional attributes: `single`, the framing of a record that is too long to keep, if that is another one;
    `remark(data, starts, consumed)`, called with the bytes and what became of them, which returns a place in them and
    what is strange there, for the user; None for nothing.

    header : whether the first record of every part is a header instead of an event.
    """

    header: bool

    def __call__(self, data: bytes, final: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Cut `data`, which begins with a record, into records.

        Returns starts int64[n] and ends int64[n] of the complete records, without empty lines, and the number of bytes
        consumed: the rest is an incomplete record. With `final`, no more bytes follow and all are consumed.
        """


class ReadBytes(NamedTuple):
    """How far a source has read.

    read, total : bytes of what it reads, which may be compressed. records : bytes of all records that it found there.
    expansion : bytes of content for each byte read, more than 1 if that is compressed, in the file that is read now.
    """

    read: int
    total: int
    records: int
    expansion: float


class Share(NamedTuple):
    """The parts of a source that are read here. own : their names. all : of all parts, which others read."""

    own: frozenset[str]
    all: frozenset[str]


@dataclass(frozen=True)
class SourceContext:
    """What the pipeline tells a source when it opens it.

    options : the URL's query, without the keys of the pipeline (format, rate, …).
    framing : how bytes are cut into records; sources of whole messages ignore it.
    positions : key of a part -> position from a checkpoint; empty on a fresh start.
    follow : keep reading at the end, as `tail -F` does.
    max_record_bytes : a longer record is handed over cut to 64 KiB, with an error.
    notice : shows the user one line.
    settings : the configuration's table for the scheme, `[kafka]` for `kafka://`; empty for other schemes.
    elsewhere : keys and positions of the parts of other sources of the scheme, for a source that can recognize its own
        records there, such as a file that was moved.
    share : the parts to read, for a source with `parts`; None: all.
    dealt : among how many shards records are dealt; a source that reads blocks of bytes makes them larger by this.
    checkpoint : for a source that has to give up a part. Called from `poll`; returns the positions by key of a part,
        once everything handed over has been learned, saved in a checkpoint, and committed to the source.
    """

    options: Mapping[str, str]
    framing: Framing
    positions: Mapping[str, Position]
    follow: bool
    max_record_bytes: int
    notice: Callable[[str], None]
    settings: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: Callable[[], Mapping[str, Position]] = dict
    elsewhere: Sequence[tuple[str, Position]] = ()
    share: Share | None = None
    dealt: int = 1


class Source(Protocol):
    """Where records come from. It is made and closed on one thread and polled on another, never at the same time.

    Constructed as `cls(address, context)`: the part of the URL after `scheme://`, and a `SourceContext`. Raises
    ConfigError for an unknown option, and ConnectorError if the source can't be read.

    Optional attributes: `shared`, whether other processes may be assigned its parts and resume from what was committed;
    `progress()`, `ReadBytes`, None while there is no end to reach, called on any thread; `extent()`, key of a part ->
    offsets, where reading began and one past the last record, which gives the lag; `reference_field`, see
    `connectors.synthetic.source`; `key(address)`, a static method, what a checkpoint calls the source if that is not
    the address; `reads(address, paths)`, a static method, those of the paths that the source reads, or would read once
    they exist: no output may go there; `files(address)`, a static method of `file://`, the files that are read;
    `parts(address, context)`, a class method, the names of the parts, in order, of a source that can read a share of
    them.
    """

    def poll(self, limit: int) -> list[Records] | None:
        """Up to `limit` records; [] if there are none yet, None at the end for good. Waits at most 100 ms."""

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Everything before `positions` is in checkpoint `number` (0 without checkpoints); the source may forget it."""

    def close(self) -> None: ...
