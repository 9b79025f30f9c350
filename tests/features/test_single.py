"""Single events have the same features as in batches."""

from collections import Counter, UserDict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from streamlin.config import ViewConfig
from streamlin.errors import RecordError
from streamlin.features import View
from streamlin.features.rows import RowIndex
from streamlin.features.single import SingleEvent

VIEWS = [
    View(),
    View(ViewConfig(tokens="scikit-learn", ngrams=(1, 3), values="log"), bits=9),
    View(ViewConfig(tokens="char_wb", ngrams=(2, 4), values="counts")),
    View(ViewConfig(tokens="whitespace", lowercase=False, masks=["number", "hex"])),
    View(ViewConfig(normalize="nfkc")),
]
TEXTS = [
    "",
    "a b a",
    "Ünïcode ÄB 12 12",
    "x" * 40,
    "\ud800 lone",
    "one two three",
    "tab\tand\nline",
    "İ cl\u2062aim हिन्दी ﬁn",
]
LARGEST = float(np.finfo(np.float32).max)
MAPPINGS = [
    {},
    {"": 1},
    {"": 1, "a": 2},
    Counter("abracadabra"),
    {"a": 0, "b": 0.0, "c": 3},
    {"a": True, "b": False},
    {"a": np.float32(0.5), "b": np.int64(3)},
    {"a": Fraction(1, 3)},
    {"a\0b": 1.0},
    {"a": 1.0, "b\0": 2.0, "\0": 3.0},
    {"größe": 1e-50, "\ud800": -2.5},
    {"a": LARGEST, "b": -LARGEST},
    UserDict({"b": 1.5, "a": 2}),
    {f"name {i}": i + 0.5 for i in range(300)},
]


def many(x, view):
    """The features of x in a batch."""
    return view.of_texts([x]) if isinstance(x, str) else view.of_mappings([x])


def check(event, x, view, index):
    """Checks that the event has the features of x, with the current rows."""
    features = many(x, view)
    expected = index.examples(features)
    assert_array_equal(event.examples.indptr, features.indptr)
    assert_array_equal(event.values, features.values, strict=True)
    assert_array_equal(event.examples.rows[: features.values.size], expected.rows, strict=True)
    assert event.examples.rows_before.tolist() == [len(index)]


@pytest.mark.parametrize("view", VIEWS)
def test_single_text_has_the_features_of_a_batch(view: View) -> None:
    index = RowIndex(view.bits)
    event = SingleEvent(view, index)
    index.examples(view.of_texts(["a three line"]), np.array([True]))
    for text in [*TEXTS, " ".join(map(str, range(500))), *TEXTS]:
        event.featurize(text)
        check(event, text, view, index)


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
def test_single_mapping_has_the_features_of_a_batch(mapping) -> None:
    view, index = View(bits=12), RowIndex(12)
    event = SingleEvent(view, index)
    index.examples(view.of_mappings([{"a": 1, "name 3": 1}]), np.array([True]))
    event.featurize(mapping)
    check(event, mapping, view, index)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 1e39, -1e39, 10**400, int(LARGEST) + 1, "1", None, np.ones(2), 1j], ids=repr
)
@pytest.mark.parametrize("first", [{"a": 1.0}, {"a": 0, "b": 1}, {}])
def test_single_mapping_refuses_the_values_that_batches_refuse(first, value) -> None:
    """Also after a valid mapping, whose features are then discarded."""
    view, index = View(bits=12), RowIndex(12)
    event = SingleEvent(view, index)
    event.featurize(first)
    bad = first | {"b": value}
    with pytest.raises(RecordError) as expected:
        many(bad, view)
    for _ in range(2):
        with pytest.raises(RecordError) as found:
            event.featurize(bad)
        assert str(found.value) == str(expected.value)
    event.featurize(first)
    check(event, first, view, index)


def test_single_mapping_refuses_the_names_that_batches_refuse() -> None:
    for mapping in ({1: 1.0}, {1: float("nan")}):
        with pytest.raises((TypeError, RecordError)) as expected:
            many(mapping, View())
        with pytest.raises(expected.type, match=str(expected.value)):
            SingleEvent(View(), RowIndex(20)).featurize(mapping)


def test_a_changed_mapping_is_hashed_again() -> None:
    """A changed value, name, or order, which rows are assigned by."""
    view, index = View(), RowIndex(20)
    event = SingleEvent(view, index)
    mapping = {"a": 1.0, "b": 2.0}
    changes = [
        lambda: mapping.update(a=3.0),
        lambda: mapping.update(c=1.0),
        lambda: mapping.pop("b"),
        lambda: mapping.update(a=mapping.pop("a")),
        lambda: mapping.update(a=True),
        lambda: mapping.clear(),
    ]
    for change in changes:
        event.featurize(mapping)
        change()
        event.featurize(mapping)
        check(event, mapping, view, index)
    event.featurize({"a": 1, "b": 1})
    event.featurize({"b": 1, "a": 1})
    event.bring_rows()
    assert index.buckets.tolist() == view.of_mappings([{"b": 1, "a": 1}]).buckets.tolist()


def test_a_subclass_of_str_is_a_text() -> None:
    view, index = View(), RowIndex(20)
    event = SingleEvent(view, index)
    for text in (np.str_("a b"), np.str_("a c"), "a c", {"a c": 1}, np.str_("a c")):
        event.featurize(text)
        check(event, text, view, index)


text = st.text("ab ", max_size=8)
mapping = st.dictionaries(st.sampled_from(["a", "b", "c\0", "d"]), st.sampled_from([0, 1, 2.5, -1, True]), max_size=4)


@given(st.lists(st.tuples(text | mapping, st.booleans()), max_size=30))
def test_single_events_bring_the_rows_of_batches(steps):
    view, ours, theirs = View(bits=6), RowIndex(6), RowIndex(6)
    event = SingleEvent(view, ours)
    for x, learned in steps:
        expected = theirs.examples(many(x, view), np.array([learned]))
        event.featurize(x)
        if learned:
            event.bring_rows()
        assert_array_equal(event.examples.rows[: expected.rows.size], expected.rows)
        assert_array_equal(event.examples.rows_before, expected.rows_before)
        assert_array_equal(event.values, expected.values)
    assert_array_equal(ours.buckets, theirs.buckets)
