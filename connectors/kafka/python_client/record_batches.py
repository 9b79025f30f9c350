"""Record batches of Kafka's log format, taken apart as columns.

kafka-python makes an object of every record, in Python, which costs more than to learn from it with five learners. Here
a kernel walks the bytes of a batch once its client has fetched, checked and decompressed it. The format, version 2, is
that of https://kafka.apache.org/documentation/#messageformat
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from connectors.kafka.messages import CUT, Messages, wrong_lengths
from streamlin.errors import ConnectorError
from streamlin.kernel import kernel

_LOG_APPEND_TIME = 1


class Batch(NamedTuple):
    """A batch that its client has checked: the records' bytes, how many, and what their numbers are relative to."""

    data: bytes | bytearray
    begin: int
    size: int
    base_offset: int
    first_time: int
    same_time: int
    leader_epoch: int


def batch_of(batch: Any) -> Batch:
    """From a `kafka.record.default_records.DefaultRecordBatch`, whose CRC was looked at before."""
    batch._maybe_uncompress()
    same = batch.max_timestamp if batch.timestamp_type == _LOG_APPEND_TIME else -1
    return Batch(
        batch._buffer,
        batch._pos,
        batch.records_count,
        batch.base_offset,
        batch.first_timestamp,
        same,
        batch.leader_epoch,
    )


def messages_of(batches: Sequence[Batch], topic: str, partition: int, begin: int, longest: int) -> Messages:
    """The records of consecutive batches of a partition, from offset `begin` on.

    longest : a longer value is handed over cut, with an error.
    Raises ConnectorError where the bytes are no records.
    """
    for batch in batches:
        if not 0 <= batch.size <= len(batch.data):  # a record has more bytes than one
            raise _damaged(topic, partition, batch)
    total = sum(batch.size for batch in batches)
    numbers, spans = np.empty((total, 2), np.int64), np.empty((total, 6), np.int64)
    values = np.empty(sum(len(batch.data) for batch in batches) + total, np.uint8)
    starts, lengths = np.empty(total, np.int64), np.empty(total, np.int64)
    done, used = 0, 0
    for batch in batches:
        data = np.frombuffer(batch.data, np.uint8)
        own = slice(done, done + batch.size)
        if not find_records(
            data, batch.begin, batch.base_offset, batch.first_time, batch.same_time, numbers[own], spans[own]
        ):
            raise _damaged(topic, partition, batch)
        used = gather(data, spans[own], longest, CUT, values, used, starts[own], lengths[own])
        done += batch.size
    first = int(np.searchsorted(numbers[:, 0], begin))  # a batch may begin before what was asked for
    kept = slice(first, None)
    sizes = spans[kept, 3] - spans[kept, 2]
    tombstones = np.flatnonzero(spans[kept, 2] < 0)
    offsets = numbers[kept, 0].copy()
    return Messages(
        data=values[:used].tobytes(),
        starts=starts[kept],
        ends=starts[kept] + lengths[kept],
        offsets=offsets,
        nexts=offsets + 1,
        part=f"{topic}/{partition}",
        errors=wrong_lengths(sizes, tombstones, longest),
        tombstones=tombstones,
        topic=topic,
        partition=partition,
        leader_epoch=batches[-1].leader_epoch,
        begin=begin,
        keys=_Keys(batches, spans),
        headers=_HeaderLists(batches, spans),
        times=numbers[:, 1],
        first=first,
    )


@kernel
def find_records(
    data: NDArray[np.uint8],
    at: int,
    base_offset: int,
    first_time: int,
    same_time: int,
    numbers: NDArray[np.int64],
    spans: NDArray[np.int64],
) -> bool:
    """Find n records in data[at:]; whether they are whole, their headers too, and nothing follows.

    same_time : the time of all of them, or -1.
    numbers [n, 2] : set to offset and time. spans [n, 6] : to begin and end of key, value and headers; -1, -1 for null.
    """
    for i in range(numbers.shape[0]):
        length, at = varint(data, at)
        if length < 0 or length > data.size - at:
            return False
        end = at + length
        time_delta, at = varint(data, at + 1)  # behind the attributes, which say nothing yet
        offset_delta, at = varint(data, at)
        numbers[i, 0] = base_offset + offset_delta
        numbers[i, 1] = first_time + time_delta if same_time < 0 else same_time
        for part in range(2):
            size, at = varint(data, at)
            if size > end - at:
                return False
            if size < 0:
                spans[i, 2 * part] = spans[i, 2 * part + 1] = -1
            else:
                spans[i, 2 * part], spans[i, 2 * part + 1] = at, at + size
                at += size
        if not headers_fit(data, at, end):
            return False
        spans[i, 4], spans[i, 5] = at, end
        at = end
    return bool(at == data.size)


@kernel
def headers_fit(data: NDArray[np.uint8], at: int, end: int) -> bool:
    """Whether data[at:end] is a number and so many headers, a name and a value or none each."""
    count, at = varint(data, at)
    if count < 0:
        return False
    for _ in range(count):
        for part in range(2):
            size, at = varint(data, at)
            if size > end - at or (size < 0 and part == 0):
                return False
            at += max(size, 0)
    return bool(at == end)


@kernel
def varint(data: NDArray[np.uint8], at: int) -> tuple[int, int]:
    """A zigzag-encoded number of variable length, and where it ends; past the end of the data it is -1."""
    number, shift = 0, 0
    while at < data.size and shift < 64:
        octet = int(data[at])
        at += 1
        number |= (octet & 0x7F) << shift
        if octet < 0x80:
            return ((number >> 1) & 0x7FFF_FFFF_FFFF_FFFF) ^ -(number & 1), at  # a shift that brings no sign along
        shift += 7
    return -1, data.size + 1


@kernel
def gather(
    data: NDArray[np.uint8],
    spans: NDArray[np.int64],
    longest: int,
    cut: int,
    out: NDArray[np.uint8],
    at: int,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> int:
    """Copy values one behind the other to out[at:], a line feed after each; returns where the last one ends.

    What is longer than `longest` is cut to `cut` bytes. starts, lengths [n] : set to where they are in `out`.
    """
    for i in range(starts.size):
        begin, size = spans[i, 2], spans[i, 3] - spans[i, 2]
        if size > longest:
            size = min(size, cut)
        starts[i], lengths[i] = at, size
        for j in range(size):
            out[at + j] = data[begin + j]
        at += size
        out[at] = 0x0A
        at += 1
    return at


def _damaged(topic: str, partition: int, batch: Batch) -> ConnectorError:
    return ConnectorError(f"{topic}/{partition}: the batch at offset {batch.base_offset} is damaged")


class _Slices(Sequence[Any]):
    """What lies in a pair of columns of `spans`, taken out when it is asked for."""

    def __init__(self, batches: Sequence[Batch], spans: NDArray[np.int64]) -> None:
        self._data = [batch.data for batch in batches]
        self._firsts = np.cumsum([batch.size for batch in batches])
        self._spans = spans

    def __len__(self) -> int:
        return len(self._spans)

    def _slice(self, i: int, column: int) -> bytes | None:
        begin, end = self._spans[i, column], self._spans[i, column + 1]
        if begin < 0:
            return None
        return bytes(self._data[int(np.searchsorted(self._firsts, i, side="right"))][begin:end])


class _Keys(_Slices):
    def __getitem__(self, i: Any) -> Any:
        return self._slice(i, 0)


class _HeaderLists(_Slices):
    def __getitem__(self, i: Any) -> Any:
        return list(_headers(self._slice(i, 4) or b"\0"))


def _headers(data: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Their number, then name and value of each."""
    octets = np.frombuffer(data, np.uint8)
    count, at = varint(octets, 0)
    for _ in range(count):
        size, at = varint(octets, at)
        name = data[at : at + size].decode(errors="backslashreplace")
        size, at = varint(octets, at + size)
        yield name, None if size < 0 else data[at : at + size]
        at += max(size, 0)
