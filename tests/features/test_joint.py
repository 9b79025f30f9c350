"""The rows of a learner of several views, beside a dictionary."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from streamlin.errors import CheckpointError
from streamlin.features import Buckets
from streamlin.features.joint import JointRows
from streamlin.features.rows import RowIndex

BITS = 4
event = st.tuples(
    *[st.dictionaries(st.integers(0, 15), st.sampled_from([0.5, 1.0, 3.0]), max_size=5)] * 3, st.booleans()
)
events = st.lists(event, max_size=12)


def in_batches(stream, size, scaled):
    """What a learner of three views reads of each event: rows, values, rows before."""
    indexes = [RowIndex(BITS) for _ in range(3)]
    joint, found = JointRows(indexes, scaled), []
    for begin in range(0, len(stream), size):
        part = stream[begin : begin + size]
        learned = np.array([one[3] for one in part])
        views = [index.examples(buckets_of(part, view), learned) for view, index in enumerate(indexes)]
        indptr, rows, values, before = joint.examples(views)
        for i in range(len(part)):
            own = slice(indptr[i], indptr[i + 1])
            found.append((rows[own].tolist(), values[own].tolist(), int(before[i])))
    return found, joint


def buckets_of(stream, view):
    given = [one[view] for one in stream]
    pairs = [pair for own in given for pair in own.items()]
    indptr = np.cumsum([0, *map(len, given)])
    return Buckets(indptr, np.array([b for b, _ in pairs], np.int32), np.array([v for _, v in pairs], np.float32))


def twin(stream, scaled):
    """The same by one dictionary of view and bucket, which numbers them as learned events bring them."""
    row_of, found = {}, []
    for *views, learned in stream:
        before, rows, values = len(row_of), [], []
        for view, own in enumerate(views):
            length = sqrt(sum(value * value for value in own.values())) if scaled and own else 1.0
            for bucket, value in own.items():
                if learned:
                    row_of.setdefault((view, bucket), len(row_of))
                rows.append(row_of.get((view, bucket), -1))
                values.append(float(np.float32(1.0 / length * value)))
        found.append((rows, values, before))
    return found, row_of


@given(events, st.integers(1, 12), st.booleans())
def test_rows_and_values_equal_the_twin_in_any_batches(stream, size, scaled):
    ours, joint = in_batches(stream, size, scaled)
    theirs, row_of = twin(stream, scaled)
    assert ours == theirs
    views, rows = joint.places()
    buckets = [(int(view), int(joint.indexes[view].buckets[row])) for view, row in zip(views, rows, strict=True)]
    assert buckets == list(row_of)


@given(events, events)
def test_a_restored_state_goes_on_alike(stream, more):
    _, joint = in_batches(stream, 5, True)
    new = JointRows(joint.indexes, True)
    new.restore(joint.state().copy())
    views = [index.examples(buckets_of(more, view)) for view, index in enumerate(joint.indexes)]
    for ours, theirs in zip(new.examples(views), joint.examples(views), strict=True):
        assert_array_equal(ours, theirs)


def test_rows_from_before_the_first_event_are_taken_in_view_by_view():
    joint = JointRows([RowIndex(BITS), RowIndex(BITS)], False)
    joint.indexes[0].bring(np.array([3, 5], np.int32))
    joint.indexes[1].bring(np.array([7], np.int32))
    joint.take_in()
    assert [own.tolist() for own in joint.rows] == [[0, 1], [2]]


def test_a_state_that_gives_two_features_one_row_is_refused():
    joint = JointRows([RowIndex(BITS), RowIndex(BITS)], False)
    joint.indexes[0].bring(np.array([3, 5], np.int32))
    with pytest.raises(CheckpointError, match="gives two features of a learner of several views one row"):
        joint.restore(np.array([1, 1], np.int32))
