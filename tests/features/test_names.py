"""Names of features, compared with the twin."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from streamlin.config import ViewConfig
from streamlin.features import View
from streamlin.features.name_kernels import LONGEST, fill_slots, key_of, slot_of
from streamlin.features.names import Names
from streamlin.features.ngrams import buckets_of
from streamlin.features.rows import RowIndex
from tests import naive_names
from tests.features.batches import batch_of, configs, texts

FIELDS = ("product",)
MANY = 10_000


def noted(names, view, index, events, learned, size=100):
    """Notes events of pieces and categories, with flags for those learned, in batches of a size."""
    for begin in range(0, len(events), size):
        part = events[begin : begin + size]
        batch = batch_of(
            [pieces for pieces, _ in part], {field: [given[field] for _, given in part] for field in FIELDS}
        )
        told = np.array(learned[begin : begin + size], np.bool_)
        rows_before = index.examples(view.buckets(batch), told).rows_before
        names.note(view, [batch], np.arange(len(part)), told, rows_before, index)
    return names


def listed(names):
    """Hash -> name."""
    state = names.state()
    if not state:
        return {}
    data, bounds = state["octets"].tobytes(), [0, *state["ends"].tolist()]
    pairs = zip(state["hashes"].tolist(), pairwise(bounds), strict=True)
    return {hashed: data[begin:end].decode("utf-8", "surrogatepass") for hashed, (begin, end) in pairs}


def of_texts(*texts):
    """Events without categories."""
    return [([text], dict.fromkeys(FIELDS)) for text in texts]


def everything(view, events, limit=MANY, size=100):
    """The names of events that are all learned."""
    return noted(Names(limit), view, RowIndex(view.bits, view.config.min_count), events, [True] * len(events), size)


events_of = st.lists(
    st.tuples(
        st.lists(texts | st.text("ab ", max_size=8), max_size=2), st.fixed_dictionaries({"product": st.none() | texts})
    ),
    max_size=8,
)


@settings(max_examples=300)
@given(events_of, configs, st.integers(1, 3), st.integers(1, 31), st.integers(0, 60), st.data())
def test_names_of_any_stream_equal_the_twin(events, config, min_count, bits, limit, draw):
    """In batches of any size, some of the events not learned."""
    config = config.model_copy(update={"min_count": min_count})
    bits = min(bits, 20)
    learned = draw.draw(st.lists(st.booleans(), min_size=len(events), max_size=len(events)))
    expected = naive_names.names(
        [event for event, told in zip(events, learned, strict=True) if told], config, bits, limit
    )
    view = View(config, bits, FIELDS)
    for size in (1, 3, 100):
        names = noted(Names(limit), view, RowIndex(bits, min_count), events, learned, size)
        assert list(listed(names).items()) == list(expected.items())
        assert len(names) == len(expected)
        assert names.is_full == (len(expected) == limit)


def test_names_follow_the_order_of_sources():
    """Rows are any events of several batches; an n-gram is named with its first row that is learned."""
    view, index, names = View(ViewConfig(ngrams=(1, 1)), 20, FIELDS), RowIndex(20), Names(MANY)
    first, second = (
        batch_of([[text] for text in part], {"product": [None] * 2}) for part in (["a b", "c"], ["d a", "e"])
    )
    index.examples(view.of_texts(["d a", "c"]), np.array([True, True]))
    names.note(view, [first, second], np.array([2, 1, 3]), np.array([True, True, False]), np.array([0, 2, 3]), index)
    assert list(listed(names).values()) == ["d", "a", "c"]


def test_an_ngram_is_named_once_its_bucket_has_a_row():
    """With min_count = 2, at its second sighting; also within one batch, after which the row exists."""
    view = View(ViewConfig(ngrams=(1, 1), min_count=2), 20)
    assert list(listed(everything(view, of_texts("a b", "c", "b", "a"))).values()) == ["b", "a"]
    assert list(listed(everything(view, of_texts("a b c", "c", "b", "a"), limit=1)).values()) == ["c"]


def test_all_ngrams_of_a_bucket_are_named():
    view = View(ViewConfig(ngrams=(1, 1)), bits=1)
    names = everything(view, of_texts("a b c d e f g"))
    found = names.of_buckets([0, 1], bits=1)
    assert sorted(found[0] + found[1]) == list("abcdefg")
    places = buckets_of(names.state()["hashes"], 1).tolist()
    assert found[0] == [name for name, place in zip("abcdefg", places, strict=True) if place == 0]
    assert names.of_buckets([], bits=1) == {}
    assert names.of_buckets([5], bits=20) == {}


@pytest.mark.parametrize("letter", ["a", "é", "中", "𝒜"])
@pytest.mark.parametrize("length", [1, 15, 16, 21, 22, 31, 33, 61, 62, 64, 65, 1_000_000])
def test_a_long_name_is_cut_between_characters(letter, length):
    view = View(ViewConfig(ngrams=(1, 1), tokens="whitespace"), 20)
    [name] = listed(everything(view, of_texts(letter * length))).values()
    assert name == naive_names.shortened(letter * min(length, 100))
    assert len(name.encode()) <= LONGEST


def test_tables_grow_with_many_names():
    """20,000 names in one batch; and no more than the limit."""
    words = [f"word{i}" for i in range(20_000)]
    view = View(ViewConfig(ngrams=(1, 1)), 20)
    for size in (1, 5000):
        events = of_texts(*(" ".join(words[i : i + 100]) for i in range(0, len(words), 100)))
        assert list(listed(everything(view, events, limit=MANY * 9, size=size)).values()) == words
        assert list(listed(everything(view, events, limit=5000, size=size)).values()) == words[:5000]


@given(events_of, st.integers(0, 8), st.integers(0, 40), st.integers(0, 40))
def test_restored_names_continue_as_without_interruption(events, cut, limit, later):
    """With the same limit as if uninterrupted; with another limit, existing names stay."""
    view, learned = View(ViewConfig(), 12, FIELDS), [True] * len(events)
    whole, index = Names(limit), RowIndex(12)
    noted(whole, view, index, events[:cut], learned[:cut])
    kept = {name: array.copy() for name, array in whole.state().items()}
    rows = index.buckets.copy()
    noted(whole, view, index, events[cut:], learned[cut:])
    for limits in (limit, later):
        other, again = Names(limits), RowIndex(12)
        other.restore({name: array.copy() for name, array in kept.items()})
        again.restore(rows)
        before = listed(other)
        noted(other, view, again, events[cut:], learned[cut:])
        found = listed(other)
        assert list(found.items())[: len(before)] == list(before.items())
        assert len(found) <= max(limits, len(before))
        if limits == limit:
            for name, array in whole.state().items():
                assert_array_equal(other.state()[name], array, strict=True)


def test_without_learned_events_there_are_no_names():
    view, index, names = View(ViewConfig(), 20, FIELDS), RowIndex(20), Names(MANY)
    noted(names, view, index, of_texts("a b", "c"), [False, False])
    empty = batch_of([], {"product": []})
    names.note(view, [empty, empty], np.arange(0), np.zeros(0, np.bool_), np.zeros(0, np.int64), index)
    assert len(names) == 0
    assert names.state() == {}


def test_hash_0_is_distinguished_from_a_free_slot():
    slots = np.zeros(8, np.int32)
    fill_slots(np.array([0, 7], np.int32), slots)
    assert np.count_nonzero(slots) == 2
    assert slots[slot_of(key_of(np.int32(0)), slots)] != 0
    assert slots[slot_of(key_of(np.int32(3)), slots)] == 0


@settings(deadline=None, max_examples=30)
@given(events_of, events_of, st.integers(0, 30))
def test_names_found_elsewhere_are_added_as_if_they_had_been_found_here(first, second, limit):
    """Elsewhere the names of before are known, or only some of them; a limit may be reached."""
    view = View(ViewConfig(), 10, FIELDS)
    whole = everything(view, first + second, limit)
    for known in (first, first[:1]):
        here, there = everything(view, first, limit), everything(view, known)
        before = len(there)
        noted(there, view, RowIndex(view.bits), second, [True] * len(second))
        state = there.since(before)
        if state:
            here.add(**state)
        assert listed(here) == listed(whole)
        assert [*listed(here)] == [*listed(whole)]
