"""Record batches as kafka-python writes and reads them."""

import struct
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from connectors.kafka.messages import Messages
from connectors.kafka.python_client.record_batches import batch_of, messages_of

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "(open|read)_text is deprecated", DeprecationWarning)  # by kafka-python itself
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.producer.record_accumulator import RecordAccumulator
    from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
    from kafka.structs import TopicPartition

    from connectors.kafka.python_client.produced_batches import BatchedProducer, Column, write_records

__all__ = [
    "BatchedProducer",
    "Column",
    "KafkaConsumer",
    "KafkaProducer",
    "RecordAccumulator",
    "TopicPartition",
    "write_records",
]

BORDERS = [0, 1, 62, 63, 64, 65, 8190, 8191, 8192, 8193]
"""Lengths at which their encoding needs one more byte, and those beside them."""


class Record(NamedTuple):
    """A record; its offset and its time are relative to its batch."""

    offset: int
    time: int = 0
    key: bytes | None = None
    value: bytes | None = b"value"
    headers: Sequence[tuple[str, bytes | None]] = ()


def built(records: Sequence[Record], base: int = 0, time: int = 1_700_000_000_000, compression: int = 0) -> bytes:
    """A batch, written by kafka-python. base, time : its first offset and time."""
    builder = DefaultRecordBatchBuilder(2, compression, False, -1, -1, -1, 1 << 30)
    for record in records:
        builder.append(record.offset, time + record.time, record.key, record.value, list(record.headers))
    batch = builder.build()
    struct.pack_into(">q", batch, 0, base)  # as the broker does; no part of the checksum
    return bytes(batch)


def theirs(data: bytes) -> list[Any]:
    """The records that kafka-python finds in a batch."""
    return list(DefaultRecordBatch(data))


def ours(*data: bytes, begin: int = 0, longest: int = 1 << 30) -> Messages:
    """The messages that we find in consecutive batches."""
    return messages_of([batch_of(DefaultRecordBatch(batch)) for batch in data], "topic", 3, begin, longest)


def binary(most: int = 40) -> st.SearchStrategy[bytes]:
    """Bytes, sometimes as many as are hard to count."""
    return st.binary(max_size=most) | st.sampled_from(BORDERS).map(lambda size: b"x" * size)


headers = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=70)), max_size=4)
times = st.integers(-(1 << 40), 1 << 40)


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    """Records of a batch: offsets with gaps, whatever a record may have."""
    count = draw(st.integers(1, 12))
    gaps = draw(st.lists(st.sampled_from([1, 1, 1, 2, 70, 10_000]), min_size=count, max_size=count))
    offsets = [sum(gaps[:i]) for i in range(count)]
    nullable = st.none() | binary()
    return [
        Record(offset, draw(times) if number else 0, draw(nullable), draw(nullable), draw(headers))
        for number, offset in enumerate(offsets)
    ]
