"""Properties of all learners."""

import re
from math import inf, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.config import DEFAULT_KINDS, RunConfig, learner_models
from streamlin.errors import ConfigError, RecordError
from streamlin.events import MAX_WEIGHT
from streamlin.learners import KINDS, LogisticRegression, NaiveBayes, Perceptron, from_config
from tests.learners.running import Run
from tests.sample_streams import Example, read_events, real_examples, thinned

EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
EVERY_LINEAR = pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind is not NaiveBayes])

TEXTS = ["win a prize now", "see you at lunch", "a prize for you", "lunch now", "", "win win win"]
LABELS = ["spam", "ham", "spam", "ham", "ham", "spam"]


def taught(kind, texts=TEXTS, labels=LABELS):
    """A learner that has learned some texts."""
    learner = kind()
    learner.learn_many(texts, labels)
    return learner


def unnormalised(learner):
    """The learner with normalisation off."""
    if hasattr(learner, "normalize"):
        learner.normalize = False
    return learner


def tables(learner):
    """Copies of all learned arrays and labels."""
    return {name: getattr(learner, name).copy() for name in learner.tables} | {"labels": learner.labels.names.copy()}


def assert_same(ours, theirs):
    """The same arrays, bit for bit."""
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert_array_equal(array, theirs[name], err_msg=name, strict=isinstance(array, np.ndarray))


@EVERY
def test_it_abstains_while_no_label_is_known(kind):
    learner = kind()
    assert learner.predict_one("a text") is None
    assert learner.predict_proba_one("a text") == {}
    assert learner.learn_many(["a text"] * 3, [None, "x", None]) == [None, None, "x"]


@EVERY_LINEAR
def test_a_single_known_label_teaches_nothing(kind):
    learner = taught(kind, TEXTS, ["only"] * len(TEXTS))
    assert learner.predict_one("win") == "only"
    assert not any(getattr(learner, name).any() for name in learner.tables)


@EVERY
def test_a_tie_goes_to_the_label_seen_first(kind):
    learner = taught(kind, [*TEXTS, "z", "y"], [*LABELS, "zebra", "ape"])
    for name in learner.tables:
        getattr(learner, name)[...] = 0
    assert learner.predict_one("win a prize") == "spam"
    assert set(learner.predict_proba_one("win a prize").values()) == {1 / 4}


@EVERY
def test_unlabelled_events_teach_nothing(kind):
    learner = taught(kind)
    before = tables(learner)
    texts = ["never seen before", "win a prize now", ""]
    assert learner.learn_many(texts, [None] * 3) == learner.predict_many(texts)
    assert_same(tables(learner), before)


@EVERY
def test_weight_0_teaches_nothing_and_adds_no_label(kind):
    learner = taught(kind)
    before, probabilities = tables(learner), learner.predict_proba_one("never seen")
    learner.learn_one("never seen before", "new", 0.0).learn_one("win a prize", "ham", 0.0)
    assert_same(tables(learner), before)
    assert learner.predict_proba_one("never seen") == probabilities


@EVERY
def test_new_labels_and_features_do_not_change_the_events_scores(kind):
    def scores_of(last):
        run = Run(unnormalised(kind()))
        run.step([Example({1: 1.0, 2: 1.0}, "a"), Example({2: 1.0}, "b"), Example({1: 1.0}, "a")])
        return run.step([last])[0]

    plain = scores_of(Example({1: 1.0, 2: 2.0}, None))
    assert_array_equal(scores_of(Example({1: 1.0, 3: 5.0, 2: 2.0}, None)), plain)
    assert_array_equal(scores_of(Example({1: 1.0, 3: 5.0, 2: 2.0}, "b")), plain)
    assert_array_equal(scores_of(Example({1: 1.0, 3: 5.0, 2: 2.0}, "new")), [*plain, -inf])


@EVERY
def test_prior_or_bias_decides_an_empty_text(kind):
    """One text of label a, five of b: all learners know that b is more likely."""
    learner = taught(kind, ["u", "v", "w", "x", "y", "z"], ["a", "b", "b", "b", "b", "b"])
    assert learner.predict_one("") == "b"
    assert learner.predict_proba_one("") == learner.predict_proba_one({})
    assert learner.predict_one("never seen") == "b"


@EVERY
def test_texts_without_words_can_be_learned_from(kind):
    learner = taught(kind, ["", "", "", ""], ["a", "b", "b", "b"])
    assert learner.predict_one("") == "b"
    assert np.isfinite(learner.scores_many(["", "word"])).all()


@EVERY
def test_probabilities_sum_to_one_and_agree_with_the_prediction(kind, data):
    events = read_events(data / "trec-6.jsonl.gz", 200)
    learner = taught(kind, [event.text for event in events], [event.label for event in events])
    for event in events[:50]:
        probabilities = learner.predict_proba_one(event.text)
        assert list(probabilities) == learner.labels.names
        assert_allclose(sum(probabilities.values()), 1)
        assert max(probabilities, key=probabilities.__getitem__) == learner.predict_one(event.text)


@EVERY
def test_a_text_equals_the_mapping_of_its_features(kind):
    texts = [("win a", "x"), ("a prize", "y"), ("win win", "x"), ("", "y")]
    mappings = [{"win": 1, "win a": 1, "a": 1}, {"a": 1, "a prize": 1, "prize": 1}, {"win": 1, "win win": 1}, {}]
    by_text, by_mapping = kind(), kind()
    for (text, label), mapping in zip(texts, mappings, strict=True):
        by_text.learn_one(text, label)
        by_mapping.learn_one(mapping, label)
    assert_same(tables(by_text), tables(by_mapping))
    assert by_text.predict_proba_one("win a") == by_mapping.predict_proba_one(mappings[0])


@EVERY
def test_scores_are_linear_in_values(kind):
    """score(2) - score(0) = 2 (score(1) - score(0))."""
    learner = unnormalised(taught(kind))
    none, one, two = learner.scores_many([{}, {"win": 1}, {"win": 2}])
    assert_allclose(two - none, 2 * (one - none), rtol=1e-12)
    assert (one != none).any()


def test_a_single_normalised_value_is_one():
    learner = taught(LogisticRegression)
    one, two = learner.scores_many([{"win": 1}, {"win": 2}])
    assert_allclose(one, two, rtol=1e-12)


@EVERY
def test_learning_in_bulk_equals_one_by_one(kind, data):
    events = thinned(read_events(data / "trec-6.jsonl.gz", 300))
    bulk, single, predicted = kind(), kind(), []
    for event in events:
        predicted.append(single.predict_one(event.text))
        if event.label is not None:
            single.learn_one(event.text, event.label, event.weight)
    columns = [list(column) for column in zip(*[(e.text, e.label, e.weight) for e in events], strict=True)]
    assert bulk.learn_many(*columns) == predicted
    sizes = bulk.n_rows, len(bulk.labels)
    assert_same(bulk.state(*sizes), single.state(*sizes))


@EVERY
def test_effective_weights_are_the_features_contributions_to_scores(kind, data):
    """score(x) - score(nothing) = sum_j x_j W_j, also in tables with spare room."""
    examples = real_examples(data / "trec-6.jsonl.gz", 300)
    learner = unnormalised(kind())
    run = Run(learner, 20)
    for begin in (0, 100, 200):
        run.step(examples[begin : begin + 100])
    assert len(getattr(learner, learner.tables[0])) > len(run.rows)
    weights = learner.effective_weights(len(run.rows), len(run.labels))
    assert weights.shape == (len(run.rows), len(run.labels))
    rows = {bucket: row for row, bucket in enumerate(run.rows.buckets.tolist())}
    unlabelled = [example._replace(label=None) for example in examples]
    scores, nothing = run.step(unlabelled), run.step([unlabelled[0]._replace(x={})])[0]
    for x, row_scores in zip([example.x for example in examples], scores, strict=True):
        added = sum((value * weights[rows[j]] for j, value in x.items() if j in rows), np.zeros(len(run.labels)))
        assert_allclose(row_scores - nothing, added, rtol=1e-9, atol=1e-9)


@EVERY
def test_a_restored_state_continues_identically(kind, data):
    """Another learner with copies of the tables of `state` learns on with the same results."""
    examples = real_examples(data / "trec-6.jsonl.gz", 300)
    run, other = Run(kind(), 20), Run(kind(), 20)
    run.step(examples[:200])
    other.rows.restore(run.rows.buckets)
    other.labels.learn(run.labels.names)
    other.learner.restore({name: table.copy() for name, table in run.state().items()})
    assert_array_equal(other.step(examples[200:]), run.step(examples[200:]))
    assert_same(other.state(), run.state())


@EVERY
def test_the_largest_weights_leave_everything_finite(kind):
    learner = kind()
    for _ in range(50):
        learner.learn_many(TEXTS, LABELS, [MAX_WEIGHT] * len(TEXTS))
    assert all(np.isfinite(getattr(learner, name)).all() for name in learner.tables)
    assert learner.predict_one("win a prize") == "spam"


@EVERY
@pytest.mark.parametrize("weight", [-1.0, nan, inf, 1.7e308])
def test_an_invalid_weight_is_refused(kind, weight):
    learner = taught(kind)
    before = tables(learner)
    with pytest.raises(
        RecordError, match=rf"invalid weight {re.escape(str(weight))}: expected a number from 0 to 1e\+09"
    ):
        learner.learn_many(["a", "b"], ["new", "ham"], [1.0, weight])
    assert_same(tables(learner), before)


@EVERY
def test_a_value_of_nan_is_refused(kind):
    learner = kind()
    with pytest.raises(RecordError, match="feature 'a' is nan"):
        learner.learn_one({"a": nan}, "x")
    assert learner.predict_one({"b": 1}) is None


@EVERY
@pytest.mark.parametrize(
    ("texts", "odd"), [([5], "5"), (["a", None], "None"), ([{"a": 1}, "b"], "'b'"), ([["a", "b"]], r"\['a', 'b'\]")]
)
def test_inputs_other_than_texts_or_mappings_are_refused(kind, texts, odd):
    learner = kind()
    with pytest.raises(
        RecordError, match=f"^invalid input {odd}: expected only texts, or only mappings of feature to value$"
    ):
        learner.learn_many(texts, ["x"] * len(texts))
    assert learner.labels.names == []


@EVERY
def test_columns_may_be_arrays(kind):
    learner, lists = kind(), kind()
    columns = (["a b", "b c", "a"], ["x", "y", "x"], [1.0, 2.0, 1.0])
    assert learner.learn_many(*map(np.array, columns)) == lists.learn_many(*columns)
    assert_same(tables(learner), tables(lists))


@EVERY
def test_features_must_be_a_view(kind):
    with pytest.raises(
        ConfigError, match=r"features must be a View, as in View\(ViewConfig\(...\)\), or a list of them, got 'char_wb'"
    ):
        kind(features="char_wb")


@EVERY
@pytest.mark.parametrize("columns", [(["a"], ["x", "y"]), (["a", "b"], ["x"]), (["a"], ["x"], [1.0, 1.0])])
def test_columns_of_different_lengths_are_refused(kind, columns):
    learner = kind()
    with pytest.raises(ValueError, match="must have the same length"):
        learner.learn_many(*columns)
    assert learner.labels.names == []


@EVERY
def test_empty_input_is_accepted(kind):
    assert kind().learn_many([], []) == []
    assert kind().predict_many([]) == []


def test_every_kind_can_be_configured():
    assert [*KINDS, "mixture", "river", "sklearn"] == list(learner_models())
    assert [config.kind for config in RunConfig().learners] == list(DEFAULT_KINDS)
    every = [from_config(config) for config in RunConfig(learners=[{"kind": kind} for kind in KINDS]).learners]
    assert [learner.name for learner in every] == list(KINDS)
    for learner in every:
        assert_same(vars_of(learner), vars_of(type(learner)()))


def test_configured_parameters_reach_the_learner():
    config = RunConfig(learners=[{"kind": "logistic_regression", "eta": 0.1, "epsilon": 1e-4, "normalize": False}])
    learner = from_config(config.learners[0])
    assert (learner.eta, learner.epsilon, learner.normalize) == (0.1, 1e-4, False)


def vars_of(learner):
    """A learner's parameters."""
    return {name: value for name, value in vars(learner).items() if isinstance(value, float | int | str)}


def test_repr_shows_the_parameters():
    assert repr(LogisticRegression(eta=0.1)) == (
        "LogisticRegression(eta=0.1, epsilon=1e-10, normalize=True, squares='weight', damping=None, least_error=None)"
    )
    assert repr(Perceptron()) == "Perceptron()"


@pytest.mark.parametrize("label", [3, True, ["a"]])
def test_a_label_must_be_a_text(label):
    learner = Perceptron()
    with pytest.raises(RecordError, match="a label must be a text or None"):
        learner.learn_one("a", label)
    assert learner.learn_one("a", "").labels.names == [], "an empty label is ignored"
