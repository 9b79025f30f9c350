"""Which row each bucket gets."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.features import Buckets
from streamlin.features.rows import RowIndex


def buckets(*events):
    """Events with these buckets, and values 1, 2, …"""
    indptr = np.cumsum([0, *map(len, events)])
    flat = np.array([bucket for event in events for bucket in event], np.int32)
    return Buckets(indptr, flat, np.arange(1, flat.size + 1, dtype=np.float32))


def test_rows_are_given_in_order_of_first_sight():
    index = RowIndex(4)
    examples = index.examples(buckets([9, 3], [3, 7], [], [7, 9]), np.array([True, True, True, True]))
    assert examples.rows.tolist() == [0, 1, 1, 2, 2, 0]
    assert examples.rows_before.tolist() == [0, 2, 3, 3]
    assert index.buckets.tolist() == [9, 3, 7]
    assert examples.indptr.tolist() == [0, 2, 4, 4, 6]
    assert examples.values.tolist() == [1, 2, 3, 4, 5, 6]


def test_events_not_learned_bring_no_rows():
    """Event 0 has 9 first, but without a label: event 1 brings its row, and event 2 only looks it up."""
    index = RowIndex(4)
    examples = index.examples(buckets([9, 3], [9], [3, 9]), np.array([False, True, False]))
    assert examples.rows.tolist() == [-1, -1, 0, -1, 0]
    assert examples.rows_before.tolist() == [0, 0, 1]
    assert len(index) == 1


def test_looking_up_changes_nothing():
    index = RowIndex(4)
    index.examples(buckets([5]), np.array([True]))
    examples = index.examples(buckets([5, 6], [6]))
    assert examples.rows.tolist() == [0, -1, -1]
    assert examples.rows_before.tolist() == [1, 1]
    assert index.buckets.tolist() == [5]


def test_first_and_last_bucket_can_have_rows():
    index = RowIndex(3)
    index.examples(buckets([7, 0]), np.array([True]))
    assert index.buckets.tolist() == [7, 0]


def test_index_grows_to_all_buckets():
    """2^14 buckets in batches of all sizes; existing rows do not change."""
    order = np.random.default_rng(0).permutation(1 << 14).astype(np.int32)
    index = RowIndex(14)
    for part in np.split(order, [1, 2, 100, 1500, 1501, 9000]):
        index.examples(buckets(part.tolist()), np.array([True]))
    assert index.buckets.tolist() == order.tolist()
    assert index.examples(buckets(order.tolist())).rows.tolist() == list(range(1 << 14))


def test_restored_index_continues_as_before():
    whole, first, second = RowIndex(14), RowIndex(14), RowIndex(14)
    early, late = buckets(range(5, 3000, 3)), buckets([1, 5, 2], range(4000))
    for index in (whole, first):
        index.examples(early, np.array([True]))
    kept = first.buckets.copy()
    second.restore(kept)
    kept[:] = 0
    ours, theirs = (index.examples(late, np.array([True, True])) for index in (second, whole))
    assert ours.rows.tolist() == theirs.rows.tolist()
    assert ours.rows_before.tolist() == theirs.rows_before.tolist()
    assert second.buckets.tolist() == whole.buckets.tolist()


def test_an_empty_index_can_be_restored():
    index = RowIndex(4)
    index.restore(RowIndex(4).buckets)
    assert index.examples(buckets([3]), np.array([True])).rows.tolist() == [0]


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 31), max_size=6, unique=True), st.booleans()), max_size=30),
    st.integers(1, 10),
)
def test_rows_of_any_stream_equal_those_of_a_dict(stream, size):
    index, rows_of = RowIndex(5), {}
    for begin in range(0, len(stream), size):
        part = stream[begin : begin + size]
        expected, before = [], []
        for event, learned in part:
            before.append(len(rows_of))
            for bucket in event:
                if learned:
                    rows_of.setdefault(bucket, len(rows_of))
                expected.append(rows_of.get(bucket, -1))
        examples = index.examples(buckets(*(event for event, _ in part)), np.array([learned for _, learned in part]))
        assert examples.rows.tolist() == expected
        assert examples.rows_before.tolist() == before
    assert index.buckets.tolist() == list(rows_of)


def test_a_bucket_gets_its_row_at_sighting_min_count():
    """9 is seen in three learned events, 3 in two: with min_count 3 only 9 is a feature, from its third sighting on.

    The third event without a label has 9 as well, though without a row: its label must not show.
    """
    index = RowIndex(4, min_count=3)
    learned = np.array([True, False, True, False, True, True])
    examples = index.examples(buckets([9, 3], [9, 3], [9, 3], [9, 3], [9], [9, 3]), learned)
    assert examples.indptr.tolist() == [0, 0, 0, 0, 2, 3, 5]
    assert examples.rows.tolist() == [-1, -1, 0, 0, 1]
    assert examples.values.tolist() == [7, 8, 9, 10, 11]
    assert examples.rows_before.tolist() == [0, 0, 0, 0, 0, 1]
    assert index.buckets.tolist() == [9, 3]


def test_sightings_of_waiting_buckets_can_be_restored():
    index, other = RowIndex(4, min_count=3), RowIndex(4, min_count=3)
    index.examples(buckets([9, 3], [9], [9, 5]), np.array([True, True, True]))
    other.restore(index.buckets, index.sightings)
    assert index.sightings.tolist() == other.sightings.tolist() == [[3, 5], [1, 1]]
    more = buckets([3, 5], [5, 3])
    assert other.examples(more, np.array([True, True])).rows.tolist() == [1, 2]
    assert other.buckets.tolist() == [9, 5, 3]


@given(st.lists(st.tuples(st.lists(st.integers(0, 7), unique=True), st.booleans()), max_size=30), st.integers(1, 4))
def test_hiding_a_label_does_not_change_the_events_features(events, min_count):
    """The values and earlier rows of any event are the same with and without its label."""
    shown = [event for event, _ in events]
    whole = RowIndex(3, min_count).examples(buckets(*shown), np.array([learned for _, learned in events], np.bool_))
    for i in range(len(events)):
        learned = np.array([is_learned and number != i for number, (_, is_learned) in enumerate(events[: i + 1])])
        hidden = RowIndex(3, min_count).examples(buckets(*shown[: i + 1]), learned)
        ours, theirs = (slice(e.indptr[i], e.indptr[i + 1]) for e in (whole, hidden))
        before = whole.rows_before[i]
        assert hidden.rows_before[i] == before
        assert whole.values[ours].tolist() == hidden.values[theirs].tolist()
        known = [row if row < before else -1 for row in whole.rows[ours].tolist()]
        assert known == hidden.rows[theirs].tolist()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda index: pickle.loads(pickle.dumps(index))])
@pytest.mark.parametrize("seen", [[], [[9, 3], [3, 7], [9]]])
def test_a_copy_is_independent_and_small(copied, seen):
    """Features count from their second sighting on; the sightings are copied too."""
    index, expected = RowIndex(16, min_count=2), RowIndex(16, min_count=2)
    for one in (index, expected):
        one.examples(buckets(*seen), np.ones(len(seen), np.bool_))
    assert len(pickle.dumps(index)) < 1000
    other = copied(index)
    index.examples(buckets([5], [5]), np.ones(2, np.bool_))
    for one in (other, expected):
        one.examples(buckets([7, 3, 8], [8]), np.ones(2, np.bool_))
    assert other.buckets.tolist() == expected.buckets.tolist()
    assert other.sightings.tolist() == expected.sightings.tolist()
    assert (other.row_of == expected.row_of).all()
