"""Which key has a slot is decided by events alone, and slots are used again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.errors import CheckpointError
from streamlin.keyed.slots import Slots


def used(slots: Slots, keys: str, learned: str) -> list[int]:
    """Slots of a batch whose keys are letters, `-` for none; learned has `1` for events with a label."""
    given_keys = [None if key == "-" else key for key in keys]
    return slots.use(given_keys, np.array([one == "1" for one in learned])).tolist()


def test_the_least_recently_used_key_is_dropped() -> None:
    """Two slots. a and b come; a is used again, without a label; c takes the place of b, in a new slot."""
    slots = Slots(2)
    assert used(slots, "ab-a", "1110") == [0, 1, -1, 0]
    assert used(slots, "cb", "10") == [2, -1]
    assert (slots.names, slots.leaving, slots.dropped) == (["a", "c"], [1], 1)
    slots.release()
    assert used(slots, "b", "1") == [1], "the slot of the dropped key is used again"
    assert slots.names == ["c", "b"]


def test_an_event_without_a_label_brings_no_slot() -> None:
    slots = Slots(2)
    assert used(slots, "aab", "010") == [-1, 0, -1]
    assert len(slots) == 1


@given(
    st.lists(st.tuples(st.sampled_from("abcdef-"), st.sampled_from("01")), max_size=40),
    st.integers(1, 4),
    st.integers(1, 7),
)
def test_keys_do_not_depend_on_batches(events: list[tuple[str, str]], limit: int, size: int) -> None:
    """The same keys in the same order as event by event; and never more slots than the limit and a batch."""
    one, many = Slots(limit), Slots(limit)
    for key, learned in events:
        used(one, key, learned)
        one.release()
    for first in range(0, len(events), size):
        used(many, *map("".join, zip(*events[first : first + size], strict=True)))
        many.release()
    assert (one.names, one.dropped) == (many.names, many.dropped)
    assert one.size <= limit + 1
    assert many.size <= limit + size
    assert len({*many.numbers.tolist()}) == len(many)


@pytest.mark.parametrize("names", [["a", "a"], ["a", "b", "c"]])
def test_forged_keys_are_refused(names: list[str]) -> None:
    with pytest.raises(CheckpointError, match="2 different ones"):
        Slots(2).restore(names, 0)
