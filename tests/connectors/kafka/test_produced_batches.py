"""Batches written as columns: kafka-python reads in them what was handed over, and says when it has arrived."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.kafka.batches import (
    BORDERS,
    BatchedProducer,
    Column,
    Record,
    RecordAccumulator,
    TopicPartition,
    binary,
    built,
    write_records,
)

PART = TopicPartition("topic", 0)
pairs = st.lists(st.tuples(binary(), binary()), min_size=1, max_size=12)


def column(texts, gap):
    """Texts end to end, each with `gap` bytes behind it that don't belong to it."""
    data = b"".join(text + b"\n" * gap for text in texts)
    return Column(np.frombuffer(data, np.uint8), np.cumsum([0, *(len(text) + gap for text in texts)]), gap)


def columns(pairs):
    return column([key for key, _ in pairs], 0), column([value for _, value in pairs], 1)


def written(pairs, members, first=0):
    keys, values = columns(pairs)
    out = np.zeros(sum(len(pairs[i][0]) + len(pairs[i][1]) + 32 for i in members), np.uint8)
    arrays = (keys.data, keys.bounds, keys.gap, values.data, values.bounds, values.gap)
    return bytes(out[: write_records(*arrays, np.array(members, np.int64), first, out)])


def built_by_kafka_python(pairs, members, first=0):
    return built([Record(first + i, 0, *pairs[member]) for i, member in enumerate(members)])[61:]


@given(pairs, st.data(), st.sampled_from([0, 63, 8191]))
def test_they_are_written_as_kafka_python_writes_them(pairs, data, first):
    """Byte for byte; some records of the columns, in any order, into a batch that has some already."""
    members = data.draw(st.lists(st.integers(0, len(pairs) - 1), max_size=10))
    assert written(pairs, members, first) == built_by_kafka_python(pairs, members, first)


@pytest.mark.parametrize("size", BORDERS)
def test_sizes_at_which_a_number_needs_one_more_byte(size):
    for pair in ((b"k" * size, b""), (b"", b"v" * size), (b"k" * size, b"v" * size)):
        assert written([pair], [0]) == built_by_kafka_python([pair], [0])
    least = [(b"", b"v" * (size - 6 if size > 6 else 0))]  # the record's own length is at the border
    assert written(least, [0]) == built_by_kafka_python(least, [0])


class Handing:
    """kafka-python's accumulator, filled by ours; what its sender would take is taken by the test."""

    def __init__(self, batch_size, compression=0):
        self.accumulator = RecordAccumulator(batch_size=batch_size, compression_attrs=compression)
        sender = SimpleNamespace(wakeup=lambda: None)
        producer = SimpleNamespace(_accumulator=self.accumulator, _sender=sender, _transaction_manager=None)
        self._batched = BatchedProducer(producer)

    def append(self, pairs, members=None):
        """The acknowledgements."""
        numbers = np.arange(len(pairs)) if members is None else np.array(members)
        return [future for _, future in self._batched.append(PART, *columns(pairs), numbers)]

    def taken(self):
        """The batches that wait, closed as they are before they are sent."""
        waiting = self.accumulator._batches[PART]
        batches = list(waiting)
        waiting.clear()
        for batch in batches:
            batch.records.close()
        return batches

    def split(self, batch):
        """As the sender does with what a broker finds too large; the parts."""
        self.accumulator.split_and_reenqueue(batch)
        return self.taken()


def content(batches):
    return [(record.key, record.value) for batch in batches for part in batch.records.records() for record in part]


@given(pairs, pairs, st.sampled_from([200, 300, 16384]), st.sampled_from([0, 1, 4]))
def test_batches_hold_what_was_handed_over_in_order(pairs, more, batch_size, compression):
    """None is larger than it may be, unless a single record is."""
    handing = Handing(batch_size, compression)
    handing.append(pairs)
    handing.append(more)
    sizes = [batch.records.size_in_bytes() for batch in handing.accumulator._batches[PART]]
    batches = handing.taken()
    assert content(batches) == pairs + more
    for batch, size in zip(batches, sizes, strict=True):
        assert size <= batch_size or batch.record_count == 1


def test_small_portions_share_a_batch():
    handing = Handing(16384)
    for i in range(50):
        handing.append([(b"%d" % i, b"value")])
    [batch] = handing.taken()
    assert batch.record_count == 50


def test_a_batch_that_is_on_its_way_is_not_added_to():
    handing = Handing(16384)
    handing.append([(b"1", b"one")])
    [first] = handing.taken()
    handing.accumulator._batches[PART].append(first)  # put back, to be sent again
    handing.append([(b"2", b"two")])
    assert [content([batch]) for batch in handing.taken()] == [[(b"1", b"one")], [(b"2", b"two")]]


def test_only_the_members_are_handed_over():
    handing = Handing(16384)
    handing.append([(b"1", b"one"), (b"2", b"two"), (b"3", b"three")], [2, 0])
    assert content(handing.taken()) == [(b"3", b"three"), (b"1", b"one")]


def test_records_of_a_batch_that_has_arrived_are_acknowledged():
    """Those of another batch are not."""
    handing = Handing(130)
    futures = handing.append([(b"k%d" % i, b"v" * 20) for i in range(3)])
    batches = handing.taken()
    assert len(batches) == len(futures) == 3
    batches[1].complete(7, -1)
    assert [future.is_done for future in futures] == [False, True, False]
    futures[1].get(0)
    with pytest.raises(Exception, match="messages are not acknowledged"):
        futures[0].get(0)


def too_large(batch):
    error = ValueError("too large")
    batch.complete_exceptionally(error, lambda _: error)


@pytest.mark.parametrize("failing", [None, 0, 1, 2])
def test_parts_of_a_batch_that_was_split_all_have_to_arrive(failing):
    """Split in two, the second part once more: of two portions one is in the first two batches, one in the third."""
    handing = Handing(16384)
    pairs = [(b"%d" % i, b"value") for i in range(8)]
    futures = handing.append(pairs[:6]) + handing.append(pairs[6:])
    [whole] = handing.taken()
    first, rest = handing.split(whole)
    second, third = handing.split(rest)
    assert [content([batch]) for batch in (first, second, third)] == [pairs[:4], pairs[4:6], pairs[6:]]
    done = []
    for number, batch in enumerate((first, second, third)):
        if number == failing:
            too_large(batch)
        else:
            batch.complete(0, -1)
        done.append([future.is_done for future in futures])
    assert done == [[failing == 0, False], [True, False], [True, True]]
    assert [future.exception is not None for future in futures] == [failing in (0, 1), failing == 2]


def test_a_record_that_is_refused_says_why():
    handing = Handing(16384)
    [future] = handing.append([(b"1", b"one")])
    [batch] = handing.taken()
    too_large(batch)
    with pytest.raises(ValueError, match="too large"):
        future.get()
