"""Single events equal bulk calls in any order, and arrays kept between calls never change a result."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from streamlin import View, ViewConfig
from streamlin.errors import RecordError
from streamlin.learners import KINDS, PassiveAggressive, Perceptron, softmax
from tests.sample_streams import read_events, thinned

EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())

TEXTS = ["win a prize", "see you at lunch", "a prize for you", "lunch now", "", "win win win"]
MAPPINGS = [{"win": 1, "a": 2.0}, {"a": 2.0, "win": 1}, {"lunch": 1, "zero": 0}, {}]


class Bulk:
    """The same calls, using only the bulk methods."""

    def __init__(self, learner):
        self.learner = learner

    def learn_one(self, x, y, w=1.0):
        self.learner.learn_many([x], [y], [w])

    def predict_one(self, x):
        return self.learner.predict_many([x])[0]

    def predict_proba_one(self, x):
        shares = softmax(self.learner.scores_many([x]))[0]
        return dict(zip(self.learner.labels.names, shares.tolist(), strict=True))


def small(kind, view=None):
    """A learner with few buckets."""
    return kind(features=view or View(ViewConfig(ngrams=(1, 1)), bits=8))


def assert_same(ours, theirs):
    """Two learners have the same state, bit for bit."""
    assert ours.labels.names == theirs.labels.names
    assert_array_equal(ours._rows.buckets, theirs._rows.buckets)
    sizes = ours.n_rows, len(ours.labels)
    expected = theirs.state(*sizes)
    for name, table in ours.state(*sizes).items():
        assert_array_equal(table, expected[name], err_msg=name, strict=True)


events = st.sampled_from([*TEXTS, *MAPPINGS])
steps = st.one_of(
    st.tuples(st.just("predict_one"), events),
    st.tuples(st.just("predict_proba_one"), events),
    st.tuples(st.just("learn_one"), events, st.sampled_from(["x", "y", "z", "", None])),
    st.tuples(st.just("learn_one"), events, st.sampled_from(["x", "y"]), st.sampled_from([0.0, 0.5, 2, True])),
)


@EVERY
@settings(deadline=None, max_examples=30)
@given(steps=st.lists(steps, max_size=25))
def test_any_order_of_single_calls_equals_bulk(kind, steps):
    single, bulk = small(kind), small(kind)
    twin = Bulk(bulk)
    for name, *arguments in steps:
        expected, found = getattr(twin, name)(*arguments), getattr(single, name)(*arguments)
        assert name == "learn_one" or found == expected
    assert_same(single, bulk)


@EVERY
def test_single_and_bulk_calls_can_be_mixed(kind, data):
    """Predict one text, learn others in bulk with new rows and labels, then learn the first text."""
    events = [event for event in thinned(read_events(data / "trec-6.jsonl.gz", 300)) if event.label]
    mixed, bulk = small(kind), small(kind)
    for first, second in zip(events[::2], events[1::2], strict=False):
        assert mixed.predict_one(first.text) == bulk.predict_many([first.text])[0]
        assert mixed.learn_many([second.text], [second.label]) == bulk.learn_many([second.text], [second.label])
        assert mixed.predict_one(first.text) == bulk.predict_many([first.text])[0]
        mixed.learn_one(first.text, first.label, first.weight)
        bulk.learn_many([first.text], [first.label], [first.weight])
    assert_same(mixed, bulk)


@EVERY
def test_a_mapping_changed_between_calls_is_read_anew(kind):
    changed, fresh = small(kind), small(kind)
    mapping = {"a": 1.0}
    for value, label in ((2.0, "x"), (3.0, "y"), (0.5, "x"), (2.5, "y")):
        changed.predict_one(mapping)
        mapping["a"] = value
        mapping[f"new {value}"] = 1
        changed.learn_one(mapping, label)
        fresh.learn_many([dict(mapping)], [label])
    assert_same(changed, fresh)


@EVERY
def test_sharing_a_view_between_learners_changes_nothing(kind, data):
    view = View(ViewConfig(ngrams=(1, 1)), bits=8)
    together, alone = (small(kind, view), small(kind, view)), (small(kind), small(kind))
    for event in read_events(data / "trec-6.jsonl.gz", 60):
        assert [learner.predict_one(event.text) for learner in together] == [
            learner.predict_one(event.text) for learner in alone
        ]
        for group in (together, alone):
            group[0].learn_one(event.text, event.label)
            group[1].learn_one(event.text.upper(), event.label[:2])
    for ours, theirs in zip(together, alone, strict=True):
        assert_same(ours, theirs)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda learner: pickle.loads(pickle.dumps(learner))])
@EVERY
def test_a_copy_is_independent(kind, copied):
    learner, expected = small(kind), small(kind)
    for text, label in zip(TEXTS, "xyxyxy", strict=True):
        learner.learn_one(text, label)
        expected.learn_one(text, label)
    learner.predict_one("a new prize")
    other = copied(learner)
    assert "_singles" not in vars(other)
    learner.learn_one("something else that is new", "z")
    other.learn_one("a new prize", "y")
    expected.learn_one("a new prize", "y")
    assert other.predict_proba_one("a prize") == expected.predict_proba_one("a prize")
    assert_same(other, expected)


@EVERY
@pytest.mark.parametrize(
    ("x", "y", "w"),
    [
        (5, "x", 1.0),
        (None, "x", 1.0),
        (["a"], "x", 1.0),
        ({"a": nan}, "x", 1.0),
        ({"a": "1"}, "x", 1.0),
        ({1: 2.0}, "x", 1.0),
        ("a", 3, 1.0),
        ("a", ["x"], 1.0),
        ("a", "x", -1.0),
        ("a", "x", nan),
        ("a", "x", inf),
        ("a", "x", "heavy"),
        (5, 3, -1.0),
        (5, 3, 1.0),
    ],
)
def test_single_events_raise_the_errors_of_bulk_and_learn_nothing(kind, x, y, w):
    single, bulk = small(kind), small(kind)
    for learner in (single, bulk):
        learner.learn_many(TEXTS, list("xyxyxy"))
    with pytest.raises((RecordError, TypeError, ValueError)) as expected:
        bulk.learn_many([x], [y], [w])
    with pytest.raises(expected.type) as found:
        single.learn_one(x, y, w)
    assert str(found.value) == str(expected.value)
    assert_same(single, bulk)


@EVERY
@pytest.mark.parametrize("x", [5, None, ["a"], {"a": nan}, {"a": "1"}])
def test_invalid_single_inputs_are_refused_as_in_bulk(kind, x):
    learner = small(kind)
    with pytest.raises(RecordError) as expected:
        learner.predict_many([x])
    for predict in (learner.predict_one, learner.predict_proba_one):
        with pytest.raises(RecordError) as found:
            predict(x)
        assert str(found.value) == str(expected.value)


def test_naive_bayes_refuses_negative_values_of_known_features_too():
    learner = small(KINDS["naive_bayes"]).learn_one({"a": 1, "b": 2}, "x")
    for _ in range(2):
        with pytest.raises(RecordError, match=r"a value is -2.0, it must be 0 or more"):
            learner.learn_one({"a": 1, "b": -2}, "y")
    assert learner.labels.names == ["x"]


def test_scores_of_nan_are_decided_as_in_bulk():
    """After an overflow the first NaN wins in both, and -inf is a candidate in neither."""
    learner = small(Perceptron)
    learner.learn_many(TEXTS, list("xyzxyz"))
    for bias in ([0.0, nan, 1.0], [-inf, -inf, -inf], [-inf, 1.0, inf], [nan, nan, inf]):
        learner.bias[:3] = bias
        assert learner.predict_one("") == learner.predict_many([""])[0]


def test_texts_of_any_length_are_accepted(data):
    """Also longer than the initial arrays, and longer than any arrays that are kept."""
    single, bulk = PassiveAggressive(), PassiveAggressive()
    for n, label in ((10, "x"), (300, "y"), (100_000, "x"), (5, "y"), (1000, "z")):
        text = " ".join(map(str, range(n)))
        assert single.predict_one(text) == bulk.predict_many([text])[0]
        single.learn_one(text, label)
        bulk.learn_many([text], [label])
        assert sum(kept.event.room for kept in single._singles) < 1 << 17
    assert_same(single, bulk)


@EVERY
def test_threads_can_predict_concurrently(kind, data):
    events = read_events(data / "trec-6.jsonl.gz", 400)
    texts = [event.text for event in events]
    learner = kind()
    learner.learn_many(texts[:200], [event.label for event in events[:200]])
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(learner.predict_one, texts)) == learner.predict_many(texts)


def test_a_replaced_view_takes_effect():
    """The view is replaced between predicting a text and learning it."""
    ours, theirs = small(Perceptron), small(Perceptron)
    ours.predict_one("A b")
    for learner in (ours, theirs):
        learner.view = View(ViewConfig(ngrams=(1, 1), lowercase=False), bits=8)
    ours.learn_one("A b", "x")
    theirs.learn_many(["A b"], ["x"])
    assert_same(ours, theirs)


@pytest.mark.parametrize(
    ("kind", "name", "value"), [("passive_aggressive", "C", 0.01), ("logistic_regression", "eta", 2.0)]
)
def test_a_changed_parameter_takes_effect(kind, name, value):
    single, bulk = small(KINDS[kind]), small(KINDS[kind])
    for changed in (False, True):
        for learner in (single, bulk):
            if changed:
                setattr(learner, name, value)
        for text, label in zip(TEXTS, "xyxyxy", strict=True):
            single.learn_one(text, label)
            bulk.learn_many([text], [label])
    assert_same(single, bulk)


@EVERY
def test_restored_tables_take_effect(kind):
    """Restored between two events, from copies of the same size."""
    single, bulk = small(kind), small(kind)
    for learner in (single, bulk):
        learner.learn_many(TEXTS, list("xyxyxy"))
    single.predict_one(TEXTS[0])
    state = {name: np.array(table) for name, table in bulk.state(bulk.n_rows, 2).items()}
    single.restore(state)
    single.learn_one("a prize at lunch", "y")
    bulk.learn_many(["a prize at lunch"], ["y"])
    assert_same(single, bulk)


class Doubling(Perceptron):
    """A learner that does more than its kernels do."""

    def score_then_learn(self, examples, targets, scores):
        super().score_then_learn(examples, targets, scores)
        super().score_then_learn(examples, targets, np.empty_like(scores))


class Own(Doubling):
    """A plugin with a kernel for batches only."""

    kernels = None

    def score_then_learn(self, examples, targets, scores):
        Perceptron.kernels.learn_batch(*examples, *targets, *self.arguments(), scores)


@pytest.mark.parametrize("kind", [Doubling, Own])
def test_a_learner_without_kernels_equals_its_bulk_results(kind, data):
    single, bulk = small(kind), small(kind)
    for event in read_events(data / "trec-6.jsonl.gz", 100):
        assert single.predict_one(event.text) == bulk.predict_many([event.text])[0]
        single.learn_one(event.text, event.label)
        bulk.learn_many([event.text], [event.label])
    assert_same(single, bulk)
