"""Messages of one partition, as records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from streamlin.events import Position, Records, single_records

Headers = Sequence[tuple[str, bytes | None]]
CUT = 64 * 1024
"""Bytes that are kept of a message that is too long."""


@dataclass
class Messages(Records):
    """Records with what a message has besides its value.

    topic, partition : of all of them. topic_id, leader_epoch : None, -1 if the client does not know them.
    begin : the offset at which the first one was expected.
    keys, headers : of all messages of the buffer; a key is bytes or None. times : ms since 1970, -1 if unknown.
    first : index of the first record in these columns.
    """

    are_messages: bool = True
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
        """`offset`; `last`, see there; `topic_id` and `leader_epoch` if known."""
        position: Position = {"offset": self.begin}
        if count:
            position = super().position(count) | {"last": self.last(count - 1)}
        if self.topic_id is not None:
            position["topic_id"] = self.topic_id
        if self.leader_epoch >= 0:
            position["leader_epoch"] = self.leader_epoch
        return position

    def last(self, i: int) -> list[int]:
        """What a resumed run knows record i by: its offset, and a checksum of its key and value."""
        key = self.keys[self.first + i] if self.keys else None
        return [int(self.offsets[i]), crc32(self[i][:CUT], crc32(key or b""))]

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
        end, tombstones = min(end, len(self)), np.asarray(self.tombstones, np.int64)
        return replace(
            self,
            starts=self.starts[begin:end],
            ends=self.ends[begin:end],
            offsets=self.offsets[begin:end],
            nexts=self.nexts[begin:end],
            errors={i - begin: error for i, error in self.errors.items() if begin <= i < end},
            tombstones=tombstones[(tombstones >= begin) & (tombstones < end)] - begin,
            lost=self.lost if begin == 0 else 0,
            anew=self.anew and begin == 0,
            begin=self.begin if begin == 0 else int(self.nexts[begin - 1]),
            first=self.first + begin,
        )

    def raw(self, i: int) -> tuple[bytes | None, bytes | None, Headers]:
        """Key, value and headers of record i."""
        value = None if i in self.tombstones else self[i]
        return self.keys[self.first + i], value, self.headers[self.first + i]


def from_lists(
    topic: str, partition: int, offsets: Sequence[int], values: Sequence[bytes | None], longest: int
) -> Messages:
    """Messages of given values. None is a tombstone; a value of more than `longest` bytes is cut, and an error."""
    lines = single_records([value or b"" for value in values])
    tombstones = [i for i, value in enumerate(values) if value is None] if None in values else []
    errors = _errors(lines, tombstones, longest)
    if errors:
        lines = single_records([(value or b"")[: CUT if i in errors else None] for i, value in enumerate(values)])
    numbers = np.array(offsets, np.int64)
    return Messages(
        data=lines.data,
        starts=lines.starts,
        ends=lines.ends,
        offsets=numbers,
        nexts=numbers + 1,
        part=f"{topic}/{partition}",
        errors=errors,
        tombstones=np.array(tombstones, np.int64),
        topic=topic,
        partition=partition,
        begin=int(numbers[0]) if numbers.size else 0,
    )


def _errors(lines: Records, tombstones: Sequence[int], longest: int) -> dict[int, str]:
    """Errors by message: one of more than `longest` bytes, and one of nothing but a line end; tombstones have none."""
    lengths = lines.ends - lines.starts
    errors = {i: "the message is empty" for i in np.flatnonzero(lengths <= 2).tolist() if not lines[i].strip(b"\r\n")}
    for i in np.flatnonzero(lengths > longest).tolist():
        errors[i] = f"record of {lengths[i]} bytes is over max_record_bytes = {longest}"
    return {i: errors[i] for i in sorted(errors.keys() - set(tombstones))}


def beginning(topic: str, partition: int, offset: int, lost: int, anew: bool = False) -> Messages:
    """No message: a note that reading begins at `offset`, see `Records` for the rest."""
    return replace(from_lists(topic, partition, [], [], 0), begin=offset, lost=lost, anew=anew)


class Fields(NamedTuple):
    """How to read a client's record; `leader_epoch` may give None."""

    offset: Callable[[Any], Any]
    value: Callable[[Any], bytes | None]
    key: Callable[[Any], bytes | None]
    headers: Callable[[Any], Headers]
    time: Callable[[Any], int]
    leader_epoch: Callable[[Any], int | None]


def from_records(
    topic: str, partition: int, records: Sequence[Any], fields: Fields, begin: int, longest: int
) -> Messages:
    """Messages of a client's records, of which there is at least one; `begin` and `longest` as above."""
    first, last = fields.offset(records[0]), fields.offset(records[-1])
    is_dense = last - first == len(records) - 1  # offsets only grow
    offsets = range(first, last + 1) if is_dense else list(map(fields.offset, records))
    found = from_lists(topic, partition, offsets, list(map(fields.value, records)), longest)
    epoch = fields.leader_epoch(records[-1])
    return replace(
        found,
        begin=begin,
        keys=_Column(records, fields.key),
        headers=_Column(records, fields.headers),
        times=_Column(records, fields.time),
        leader_epoch=-1 if epoch is None else epoch,
    )


class _Column(Sequence[Any]):
    """A field of records, read only when asked for."""

    def __init__(self, records: Sequence[Any], field: Callable[[Any], Any]) -> None:
        self._records, self._field = records, field

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, i: Any) -> Any:
        return self._field(self._records[i])


def _text(value: bytes | None) -> str | None:
    """Bytes that are not UTF-8 as `\\xff`."""
    return None if value is None else value.decode(errors="backslashreplace")
