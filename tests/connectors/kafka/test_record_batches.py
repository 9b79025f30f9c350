"""Kafka's record batches taken apart: as kafka-python does it, and as the format's own words say."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from connectors.kafka.messages import CUT
from connectors.kafka.python_client.record_batches import Batch, find_records, messages_of
from streamlin.errors import ConnectorError
from tests.connectors.kafka.batches import BORDERS, Record, built, ours, record_lists, theirs

DAMAGED = "topic/3: the batch at offset 0 is damaged"


def found(messages):
    """Offset, time, key, value and headers of each message."""
    return [
        (
            int(messages.offsets[i]),
            int(messages.times[messages.first + i]),
            *messages.raw(i)[:2],
            list(messages.raw(i)[2]),
        )
        for i in range(len(messages))
    ]


def expected(*batches, begin=0):
    return [
        (record.offset, record.timestamp, record.key, record.value, record.headers)
        for batch in batches
        for record in theirs(batch)
        if record.offset >= begin
    ]


@given(record_lists(), record_lists(), st.integers(0, 1 << 40), st.sampled_from([0, 1, 4]))
def test_they_hold_what_kafka_python_finds(records, more, base, compression):
    """Two batches, one behind the other, plain, in gzip or in zstd."""
    batches = [
        built(records, base, compression=compression),
        built(more, base + records[-1].offset + 1, 5, compression),
    ]
    messages = ours(*batches)
    assert found(messages) == expected(*batches)
    assert messages.nexts.tolist() == (messages.offsets + 1).tolist()
    assert messages.position(len(messages))["offset"] == messages.offsets[-1] + 1


@given(record_lists(), st.data())
def test_what_is_before_the_position_is_left_out(records, data):
    """A batch comes whole even if reading is to begin in its midst."""
    begin = data.draw(st.integers(0, records[-1].offset + 2))
    batch = built(records)
    messages = ours(batch, begin=begin)
    assert found(messages) == expected(batch, begin=begin)
    assert messages.begin == begin
    assert messages.position(0)["offset"] == begin


@pytest.mark.parametrize("size", BORDERS)
def test_sizes_at_which_a_number_needs_one_more_byte(size):
    records = [Record(i, i, b"k" * size, b"v" * size, [("h" * size, b"w" * size)]) for i in range(3)]
    assert found(ours(built(records))) == expected(built(records))


def test_numbers_as_large_as_they_get():
    """Times relative to a batch have 64 bits, offsets 31."""
    records = [Record(0), Record(1 << 30, 1 << 62), Record((1 << 31) - 1, -(1 << 62))]
    assert found(ours(built(records, time=0))) == expected(built(records, time=0))


def test_the_time_at_which_the_broker_wrote_is_that_of_all():
    batch = batch_with(built([Record(0), Record(1, 700)], time=1000), same_time=5000)
    assert messages_of([batch], "topic", 3, 0, 100).times.tolist() == [5000, 5000]


def batch_with(data, **changes):
    batch = Batch(data, 61, 2, 0, 1000, -1, 0)
    return batch._replace(**changes)


def test_what_is_wrong_with_a_message():
    """An empty value is no event, a null is a tombstone, what is too long is cut."""
    values = [b"fine", b"", None, b"x" * 11, b"y" * (CUT + 5)]
    messages = ours(built([Record(i, value=value) for i, value in enumerate(values)]), longest=10)
    assert messages.errors == {
        1: "the message is empty",
        3: "record of 11 bytes is over max_record_bytes = 10",
        4: f"record of {CUT + 5} bytes is over max_record_bytes = 10",
    }
    assert list(messages.tombstones) == [2]
    assert [messages[i] for i in range(5)] == [b"fine", b"", b"", b"x" * 11, b"y" * CUT]
    assert messages.raw(2)[1] is None
    assert messages.raw(1)[1] == b""


def test_a_fetch_of_nothing_but_tombstones_takes_no_longer_than_others():
    """200,000 of them; looking for each in a list of all would take minutes."""
    messages = ours(built([Record(i, value=None) for i in range(200_000)]))
    assert len(messages.tombstones) == 200_000
    assert not messages.errors
    assert len(messages.between(100_000, 100_010).tombstones) == 10


# Damage. Batches with a wrong checksum never come this far: these have been written wrongly.


def parsed(data, count):
    """The records in `data` by the words of the format, None where it is no such thing: the twin of `find_records`.

    As begin and end of key, value (-1 for null) and headers; with offset and time relative to the batch.
    """
    at, records = 0, []
    for _ in range(count):
        length, at = number(data, at)
        if length is None or length < 0 or at + length > len(data):
            return None
        end = at + length
        time, at = number(data, at + 1)
        offset, at = number(data, at)
        key, at = span(data, at, end)
        value, at = span(data, at, end)
        if None in (time, offset, key, value) or not are_headers(data, at, end):
            return None
        records.append((offset, time, *key, *value, at, end))
        at = end
    return records if at == len(data) else None


def number(data, at):
    """A zigzag varint of at most ten bytes, in 64 bits, and where it ends."""
    value = 0
    for i, octet in enumerate(data[at : at + 10]):
        value |= (octet & 0x7F) << 7 * i
        if octet < 0x80:
            value &= (1 << 64) - 1
            return (value >> 1) ^ -(value & 1), at + i + 1
    return None, len(data) + 1


def span(data, at, end):
    """Where `size` bytes are; None where they aren't."""
    size, at = number(data, at)
    if size is None or at + size > end:
        return None, at
    return ((-1, -1), at) if size < 0 else ((at, at + size), at + size)


def are_headers(data, at, end):
    count, at = number(data, at)
    if count is None or count < 0:
        return False
    for _ in range(count):
        name, at = span(data, at, end)
        value, at = span(data, at, end)
        if name in (None, (-1, -1)) or value is None:
            return False
    return at == end


def kernel_found(data, count):
    """The same from the kernel."""
    numbers, spans = np.empty((count, 2), np.int64), np.empty((count, 6), np.int64)
    if not find_records(np.frombuffer(data, np.uint8), 0, 0, 0, -1, numbers, spans):
        return None
    return [tuple(map(int, (*numbers[i], *spans[i]))) for i in range(count)]


HUGE = b"\xfe" + b"\xff" * 8 + b"\x01"
"""2^63 - 1."""
damages = st.lists(
    st.tuples(
        st.sampled_from(["cut", "change", "insert", "remove"]),
        st.integers(0, 1 << 16),
        st.sampled_from([0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF]) | st.integers(0, 255),
    ),
    min_size=1,
    max_size=3,
)


def damaged(data, damages):
    data = bytearray(data)
    for kind, at, octet in damages:
        at %= len(data) + 1
        if kind == "cut":
            del data[at:]
        elif kind == "insert":
            data[at:at] = HUGE if octet == 0x7F else bytes([octet])
        elif kind == "remove":
            del data[at : at + 1]
        elif at < len(data):
            data[at] = octet
    return bytes(data)


@given(record_lists(), damages)
@example([Record(0)], [("remove", 4, 0), ("insert", 4, 0x7F)])
def test_what_is_damaged_is_told_from_what_is_not(records, damages):
    """The kernel finds what the plain parser finds, or neither finds anything."""
    data = built(records)[61:]
    assert kernel_found(data, len(records)) == parsed(data, len(records)) is not None
    broken = damaged(data, damages)
    assert kernel_found(broken, len(records)) == parsed(broken, len(records))


@given(record_lists(), st.data())
def test_a_batch_that_is_cut_off_is_refused(records, data):
    whole = built(records)
    cut = data.draw(st.integers(61, len(whole) - 1))
    with pytest.raises(ConnectorError, match=DAMAGED):
        ours(whole[:cut])


@pytest.mark.parametrize("size", [-1, 1, 3, (1 << 31) - 1])
def test_a_number_of_records_that_can_not_be_is_refused(size):
    """Before any memory is taken for them."""
    with pytest.raises(ConnectorError, match=DAMAGED):
        messages_of([batch_with(built([Record(0), Record(1)]), size=size)], "topic", 3, 0, 100)


@pytest.mark.parametrize("place", ["key", "value", "name", "content", "count", "length"])
def test_sizes_that_lead_out_of_the_data_are_refused(place):
    """2^63 - 1 bytes: a sum with them is negative."""
    length = HUGE if place == "length" else b"\x40"
    sizes = {name: HUGE if name == place else b"\x02" for name in ("key", "value", "count", "name", "content")}
    record = b"".join([b"\0\0\0", *(size + b"x" * (name != "count") for name, size in sizes.items())])
    data = length + record.ljust(0x20, b"\0")
    assert parsed(data, 1) is None
    assert kernel_found(data, 1) is None
