"""Each key's rows are those of a `RowIndex` of its own, whatever other keys do."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from streamlin.errors import CheckpointError
from streamlin.features import Buckets
from streamlin.features.key_rows import KeyRows
from streamlin.features.rows import RowIndex
from streamlin.keyed.learner import move_rows

BITS = 10
EVENTS = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.integers(0, 1023), unique=True, max_size=40), st.booleans()), max_size=25
)
"""A slot, buckets, and whether the event is learned."""


def features(*buckets: list[int]) -> Buckets:
    indptr = np.cumsum([0, *map(len, buckets)])
    flat = np.array([one for own in buckets for one in own], np.int32)
    return Buckets(indptr, flat, np.ones(flat.size, np.float32))


def rows_alone(events: list[tuple[int, list[int], bool]]) -> list[tuple[list[int], int]]:
    """The rows of each event, and how many its key had before, from one index for each key."""
    indexes = {slot: RowIndex(BITS) for slot, _, _ in events}
    found = []
    for slot, buckets, learned in events:
        examples = indexes[slot].examples(features(buckets), np.array([learned]))
        found.append((examples.rows.tolist(), int(examples.rows_before[0])))
    return found


@settings(max_examples=25)
@given(EVENTS, st.integers(1, 9))
def test_each_key_numbers_its_rows_alone(events: list[tuple[int, list[int], bool]], size: int) -> None:
    """In any batches; and a checkpoint in between changes nothing."""
    index, found = KeyRows(BITS), list[tuple[list[int], int]]()
    index.grow(3)
    for first in range(0, len(events), size):
        batch = events[first : first + size]
        own = features(*(buckets for _, buckets, _ in batch))
        slots = np.array([slot for slot, _, _ in batch], np.int32)
        rows, before = index.assign(own, slots, np.array([learned for _, _, learned in batch]))
        found += zip([part.tolist() for part in np.split(rows, own.indptr[1:-1])], before.tolist(), strict=True)
        index.free(np.empty(0, np.int32))
        check_blocks(index)
        restored = KeyRows(BITS)
        restored.restore(index.state(np.arange(3)))
        index = restored
    assert found == rows_alone(events)


def check_blocks(index: KeyRows) -> None:
    """No two blocks overlap, and all lie within the arena."""
    blocks = sorted((begin, begin + room) for begin, room in zip(index.begin, index.room, strict=True) if room)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(blocks))
    assert all(end <= index.arena <= index.bucket_of.size for _, end in blocks)


def test_a_key_that_outgrows_its_block_moves() -> None:
    """16 rows fill the first block, so the 17th moves all to one of 32 at row 16; the tables must follow."""
    index = KeyRows(BITS)
    index.grow(1)
    one, learned = np.zeros(1, np.int32), np.ones(1, np.bool_)
    index.assign(features([*range(16)]), one, learned)
    assert (index.begin[0], index.room[0], index.moves.tolist()) == (0, 16, [])
    rows, _ = index.assign(features([3, 99]), one, learned)
    assert rows.tolist() == [3, 16]
    assert (index.begin[0], index.room[0], index.moves.tolist()) == (16, 32, [[0, 16, 16, 16]])
    table = np.arange(96.0)
    move_rows(index.moves, 16, table.view(np.uint64))
    assert table.tolist() == [0.0] * 32 + [*range(32)] + [*range(64, 96)], "where they were is cleared"
    assert index.free(np.empty(0, np.int32)).size == 0, "nothing else is to be cleared"
    index._enlarge(1000)
    further = features([*range(100, 130)], [*range(200, 250)])
    index.assign(further, np.zeros(2, np.int32), np.ones(2, np.bool_))
    moves = [[16, 17, 112, 32], [48, 0, 112, 64]]
    assert index.moves.tolist() == moves, "twice in a batch: old rows go to the last block at once, new ones are empty"


def test_rows_that_end_within_a_word_move_whole() -> None:
    """17 rows of 12 bytes are 25 1/2 words; the rows behind them hold nothing."""
    table = np.zeros((96, 3), np.float32)
    table[16:33] = np.arange(1, 52).reshape(17, 3)
    moved = table[16:33].copy()
    move_rows(np.array([[16, 17, 48, 32]]), 12, table.reshape(-1).view(np.uint64))
    assert_array_equal(table[48:65], moved)
    assert not table[:48].any()
    assert not table[65:].any()


def test_blocks_of_dropped_keys_are_used_again() -> None:
    """A thousand keys, one after the other in one slot, of 20 words each: the arena stays that of one block."""
    index = KeyRows(BITS)
    index.grow(1)
    one, learned = np.zeros(1, np.int32), np.ones(1, np.bool_)
    for key in range(1000):
        rows, before = index.assign(features([(key + word) % 1024 for word in range(20)]), one, learned)
        assert (rows.tolist(), before.tolist()) == ([*range(20)], [0])
        index.free(one)
    assert index.arena == 32


@pytest.mark.parametrize(
    ("rows", "buckets", "said"), [([2], [5, 5], "two rows"), ([1], [5, 6], "not those of their buckets")]
)
def test_forged_rows_are_refused(rows: list[int], buckets: list[int], said: str) -> None:
    arrays = {"rows": np.array(rows), "buckets": np.array(buckets, np.int32)}
    with pytest.raises(CheckpointError, match=said):
        KeyRows(BITS).restore(arrays)
