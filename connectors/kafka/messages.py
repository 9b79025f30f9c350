"""Messages of one partition, as records."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.events import Position, Records

Headers = Sequence[tuple[str, bytes | None]]
CUT = 64 * 1024
"""What is handed over of a message that is too long."""


@dataclass
class Messages(Records):
    """Records with what a message has beside its value.

    topic, partition : where they come from. topic_id, leader_epoch : None, -1 where the client does not know.
    begin : the offset at which the first one was expected; earlier ones are no longer there.
    keys : of all messages of the buffer, bytes or None; headers : likewise; times : ms since 1970, -1 for none.
    first : number in these columns of the first record.
    """

    topic: str = ""
    partition: int = 0
    topic_id: str | None = None
    leader_epoch: int = -1
    begin: int = 0
    keys: Sequence[bytes | None] = ()
    headers: Sequence[Headers] = ()
    times: Sequence[int] | NDArray[np.int64] = ()
    first: int = 0

    def name(self, i: int) -> str:
        """`topic/partition/offset`."""
        return f"{self.part}/{self.offsets[i]}"

    def position(self, count: int) -> Position:
        """`offset`, and `topic_id` and `leader_epoch` where they are known."""
        position: Position = super().position(count) if count else {"offset": self.begin}
        if self.topic_id is not None:
            position["topic_id"] = self.topic_id
        if self.leader_epoch >= 0:
            position["leader_epoch"] = self.leader_epoch
        return position

    def envelope(self, name: str, kept: NDArray[np.int64]) -> list[Any] | None:
        """`key`, `headers.NAME` (the last of that name), `timestamp` (Unix seconds), `topic`, `partition`, `offset`."""
        numbers = (kept + self.first).tolist()
        if name == "key":
            return [_text(self.keys[i]) for i in numbers]
        if name.startswith("headers."):
            wanted = name.removeprefix("headers.")
            return [_text(dict(self.headers[i]).get(wanted)) for i in numbers]
        if name == "timestamp":
            times = [int(self.times[i]) for i in numbers]
            return [None if time < 0 else time / 1000 for time in times]
        if name == "offset":
            return list(self.offsets[kept].tolist())
        if name in ("topic", "partition"):
            return [self.topic if name == "topic" else self.partition] * len(numbers)
        return None

    def default_ids(self, kept: NDArray[np.int64]) -> list[str]:
        """`topic/partition/offset`."""
        return [f"{self.part}/{offset}" for offset in self.offsets[kept].tolist()]

    def between(self, begin: int, end: int) -> "Messages":
        """Records begin to end; buffer and columns are shared."""
        end = min(end, len(self))
        return replace(
            self,
            starts=self.starts[begin:end],
            ends=self.ends[begin:end],
            offsets=self.offsets[begin:end],
            nexts=self.nexts[begin:end],
            errors={i - begin: error for i, error in self.errors.items() if begin <= i < end},
            tombstones=self._tombstones_between(begin, end),
            lost=self.lost if begin == 0 else 0,
            begin=self.begin if begin == 0 else int(self.nexts[begin - 1]),
            first=self.first + begin,
        )

    def _tombstones_between(self, begin: int, end: int) -> NDArray[np.int64]:
        all_of_them = np.asarray(self.tombstones, np.int64)
        first, last = np.searchsorted(all_of_them, (begin, end))
        return all_of_them[first:last] - begin

    def raw(self, i: int) -> tuple[bytes | None, bytes | None, Headers]:
        """Key, value and headers of record i."""
        value = None if i in self.tombstones else self[i]
        return self.keys[self.first + i], value, self.headers[self.first + i]


def from_lists(
    topic: str,
    partition: int,
    offsets: Sequence[int],
    values: Sequence[bytes | None],
    longest: int,
) -> Messages:
    """Messages of given values; a None is a tombstone, what is longer than `longest` bytes is an error and cut."""
    tombstones = np.array([i for i, value in enumerate(values) if value is None] if None in values else [], np.int64)
    payloads = [value or b"" for value in values]
    lengths = np.fromiter(map(len, payloads), np.int64, len(payloads))
    errors = wrong_lengths(lengths, tombstones, longest)
    for i in errors:
        payloads[i] = payloads[i][:CUT]
        lengths[i] = len(payloads[i])
    nexts = np.cumsum(lengths + 1)
    starts = nexts - lengths - 1
    numbers = np.array(offsets, np.int64)
    return Messages(
        data=b"\n".join([*payloads, b""]),
        starts=starts,
        ends=starts + lengths,
        offsets=numbers,
        nexts=numbers + 1,
        part=f"{topic}/{partition}",
        errors=errors,
        tombstones=tombstones,
        topic=topic,
        partition=partition,
        begin=int(numbers[0]) if numbers.size else 0,
    )


def beginning(topic: str, partition: int, offset: int, lost: int) -> Messages:
    """No message, but word that reading begins at `offset`, and that so many before it are gone."""
    nothing = from_lists(topic, partition, [], [], 0)
    return replace(nothing, begin=offset, lost=lost)


def joined(pieces: Sequence[Messages]) -> list[Messages]:
    """One piece for each partition, in the order of their first ones."""
    parts: dict[str, list[Messages]] = {}
    for piece in pieces:
        parts.setdefault(piece.part, []).append(piece)
    return [pieces[0] if len(pieces) == 1 else _joined(pieces) for pieces in parts.values()]


def _joined(pieces: Sequence[Messages]) -> Messages:
    """Consecutive whole pieces of a partition as one."""
    shifts = np.cumsum([0, *(len(piece.data) for piece in pieces)]).tolist()
    firsts = np.cumsum([0, *(len(piece) for piece in pieces)]).tolist()
    numbered = list(zip(pieces, shifts, firsts, strict=False))
    return replace(
        pieces[0],
        data=b"".join([piece.data for piece in pieces]),
        starts=np.concatenate([piece.starts + shift for piece, shift, _ in numbered]),
        ends=np.concatenate([piece.ends + shift for piece, shift, _ in numbered]),
        offsets=np.concatenate([piece.offsets for piece in pieces]),
        nexts=np.concatenate([piece.nexts for piece in pieces]),
        errors={first + i: error for piece, _, first in numbered for i, error in piece.errors.items()},
        tombstones=np.concatenate([np.asarray(piece.tombstones, np.int64) + first for piece, _, first in numbered]),
        leader_epoch=pieces[-1].leader_epoch,
        keys=_Chain([piece.keys for piece in pieces], pieces, firsts),
        headers=_Chain([piece.headers for piece in pieces], pieces, firsts),
        times=_Chain([piece.times for piece in pieces], pieces, firsts),
        first=0,
    )


class _Chain(Sequence[Any]):
    """A column of several pieces."""

    def __init__(self, columns: Sequence[Any], pieces: Sequence[Messages], firsts: Sequence[int]) -> None:
        self._columns, self._offsets = columns, [piece.first for piece in pieces]
        self._firsts = firsts

    def __len__(self) -> int:
        return self._firsts[-1]

    def __getitem__(self, i: Any) -> Any:
        number = bisect_right(self._firsts, i) - 1
        return self._columns[number][i - self._firsts[number] + self._offsets[number]]


def wrong_lengths(lengths: NDArray[np.int64], tombstones: NDArray[np.int64], longest: int) -> dict[int, str]:
    """Errors by record, for values int64[n] that are empty, or longer than `longest` bytes; tombstones have none."""
    wrong = (lengths == 0) | (lengths > longest)
    wrong[tombstones] = False
    return {
        i: f"record of {lengths[i]} bytes is over max_record_bytes = {longest}"
        if lengths[i]
        else "the message is empty"
        for i in np.flatnonzero(wrong).tolist()
    }


def _text(value: bytes | None) -> str | None:
    """Bytes that are no UTF-8 as `\\xff`."""
    return None if value is None else value.decode(errors="backslashreplace")
