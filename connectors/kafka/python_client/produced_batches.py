"""Record batches written as columns, for kafka-python to send.

kafka-python's `send` encodes and follows up every record on its own, in Python. Here a kernel writes the records of a
batch, which is then handed to the producer's accumulator: sequence numbers, compression, checksums, retries and
transactions are kafka-python's own.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from kafka import KafkaProducer
from kafka.producer.producer_batch import ProducerBatch
from kafka.record.memory_records import MemoryRecordsBuilder
from kafka.structs import TopicPartition
from numpy.typing import NDArray

from connectors.kafka.python_client.acknowledgement import Acknowledgement
from streamlin.kernel import kernel

_MAGIC = 2
_OVERHEAD = 32
"""Bytes that a record has beside key and value, at most."""

Handed = list[tuple[int, Acknowledgement]]
"""Bytes handed over, and whether they have arrived."""


class BatchedProducer:
    """Puts whole batches of records into a producer's accumulator.

    Raises AttributeError where a version of kafka-python is made otherwise.
    """

    def __init__(self, producer: KafkaProducer) -> None:
        self._accumulator, self._sender = producer._accumulator, producer._sender
        self._transactions = producer._transaction_manager
        self._largest = self._accumulator.config["batch_size"]

    def append(self, part: TopicPartition, keys: "Column", values: "Column", members: NDArray[np.int64]) -> Handed:
        """Hand over the records `members` of the columns."""
        if self._transactions and self._transactions.is_transactional():
            self._transactions.maybe_add_partition_to_transaction(part)
        ends = np.cumsum(keys.lengths()[members] + values.lengths()[members] + _OVERHEAD)
        handed, begin = [], 0
        while begin < members.size:
            with self._accumulator._tp_lock(part):
                batch, end = self._room(part, ends, begin)
                size = int(ends[end - 1] - (ends[begin - 1] if begin else 0))
                handed.append((size, _extend(batch, keys, values, members[begin:end], size)))
            begin = end
        self._sender.wakeup()
        return handed

    @contextmanager
    def hurry(self) -> Iterator[None]:
        """Meanwhile no batch waits to be filled up."""
        self._accumulator.begin_flush()
        self._sender.wakeup()
        try:
            yield
        finally:
            self._accumulator._flushes_in_progress.decrement()

    def _room(self, part: TopicPartition, ends: NDArray[np.int64], begin: int) -> tuple[ProducerBatch, int]:
        """The batch that waits to be filled up, or a new one, and up to which record there is room in it."""
        before = ends[begin - 1] if begin else 0
        waiting = self._accumulator._batches[part]
        if waiting and not waiting[-1].records._closed:
            room = self._largest - waiting[-1].records.size_in_bytes()
            end = int(np.searchsorted(ends, before + room, side="right"))
            if end > begin:
                return waiting[-1], end
        batch = _new_batch(part, self._accumulator.config)
        waiting.append(batch)
        self._accumulator._incomplete.add(batch)
        end = int(np.searchsorted(ends, before + self._largest - batch.records.size_in_bytes(), side="right"))
        return batch, max(end, begin + 1)  # a record larger than a batch has one for itself


def _new_batch(part: TopicPartition, config: Any) -> ProducerBatch:
    records = MemoryRecordsBuilder(_MAGIC, config["compression_attrs"], config["batch_size"])
    records._builder._first_timestamp = records._builder._max_timestamp = int(time.time() * 1000)
    return ProducerBatch(part, records)


def _extend(
    batch: ProducerBatch, keys: "Column", values: "Column", members: NDArray[np.int64], size: int
) -> Acknowledgement:
    """Write further records, of `size` bytes at most, into a batch."""
    records = batch.records
    builder, out = records._builder, np.empty(size, np.uint8)
    first = records._next_offset
    used = write_records(keys.data, keys.bounds, keys.gap, values.data, values.bounds, values.gap, members, first, out)
    builder._buffer.extend(memoryview(out[:used]))  # type: ignore[arg-type]  # a buffer, from Python 3.12 on
    builder._num_records += members.size
    builder._last_offset = first + members.size - 1
    records._next_offset = first + members.size
    batch.last_append = time.monotonic()
    acknowledgement = Acknowledgement(batch.produce_future, members.size)
    batch._record_futures += [acknowledgement] * members.size
    return acknowledgement


class Column:
    """Texts end to end: text i is `data[bounds[i]:bounds[i + 1] - gap]`."""

    def __init__(self, data: NDArray[np.uint8], bounds: NDArray[np.int64], gap: int = 0) -> None:
        self.data, self.bounds, self.gap = data, bounds, gap

    def lengths(self) -> NDArray[np.int64]:
        """int64[n], the gaps counted."""
        return np.diff(self.bounds)


@kernel
def write_records(
    keys: NDArray[np.uint8],
    key_bounds: NDArray[np.int64],
    key_gap: int,
    values: NDArray[np.uint8],
    value_bounds: NDArray[np.int64],
    value_gap: int,
    members: NDArray[np.int64],
    first: int,
    out: NDArray[np.uint8],
) -> int:
    """Write the records `members`, numbered from `first` on, without headers, to `out`; returns the bytes used."""
    at = 0
    for number in range(members.size):
        i = members[number]
        key_begin, key_size = key_bounds[i], key_bounds[i + 1] - key_gap - key_bounds[i]
        value_begin, value_size = value_bounds[i], value_bounds[i + 1] - value_gap - value_bounds[i]
        offset = first + number
        length = 3 + varint_size(offset) + varint_size(key_size) + key_size + varint_size(value_size) + value_size
        at = put_varint(out, at, length)
        out[at] = 0  # attributes: none
        out[at + 1] = 0  # time after the batch's
        at = put_varint(out, at + 2, offset)
        at = put_varint(out, at, key_size)
        for j in range(key_size):
            out[at + j] = keys[key_begin + j]
        at = put_varint(out, at + key_size, value_size)
        for j in range(value_size):
            out[at + j] = values[value_begin + j]
        at += value_size
        out[at] = 0  # headers: none
        at += 1
    return at


@kernel
def varint_size(number: int) -> int:
    """Bytes of a number from 0 on in the zigzag encoding of variable length."""
    size, rest = 1, number >> 6
    while rest:
        size += 1
        rest >>= 7
    return size


@kernel
def put_varint(out: NDArray[np.uint8], at: int, number: int) -> int:
    """Write a number from 0 on; returns where it ends."""
    rest = number << 1
    while rest >= 0x80:
        out[at] = (rest & 0x7F) | 0x80
        rest >>= 7
        at += 1
    out[at] = rest
    return at + 1
