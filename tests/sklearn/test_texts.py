"""Texts: the wrappers give the results of the learners, in portions of any size."""

import copy
import pickle
from math import inf

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from streamlin import View, ViewConfig, learners, sklearn
from tests.sample_streams import read_events
from tests.sklearn.kinds import CLASSIFIERS

EVERY = pytest.mark.parametrize("name", CLASSIFIERS)
TEXTS = ["win a prize now", "see you at lunch", "a prize for you", "lunch now", "", "win win win"]
LABELS = ["spam", "ham", "spam", "ham", "ham", "spam"]


def stream(data, n=200):
    events = read_events(data / "trec-6.jsonl.gz", n)
    return [event.text for event in events], [event.label for event in events]


def make(name):
    return getattr(sklearn, name)(features=View(ViewConfig(ngrams=(1, 1)), bits=12))


@EVERY
def test_a_wrapper_predicts_as_its_learner(name, data):
    """Labels have another order, and of equal scores the first in that order wins."""
    texts, labels = stream(data)
    weights = np.linspace(0, 2, len(texts))
    model, learner = make(name), getattr(learners, name)(features=make(name).features)
    model.partial_fit(texts, labels, sample_weight=weights)
    learner.learn_many(texts, labels, weights)
    assert model.__doc__.split("\n\n    Raises")[0] == learner.__doc__.split("\n\n    Attributes")[0]
    assert_array_equal(model.classes_, sorted(set(labels)))
    scores = learner.scores_many(texts)[:, np.argsort(learner.labels.names)]
    assert_array_equal(model.decision_function(texts), scores)
    assert_array_equal(model.predict_proba(texts), learners.softmax(scores))
    assert_array_equal(model.predict(texts), model.classes_[scores.argmax(axis=1)])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("PassiveAggressive", {"C": inf, "averaged": True, "half_life": 50.0}),
        ("StochasticGradientDescent", {"rate": "bottou", "l2": 0.01}),
    ],
)
def test_parameters_reach_the_learner_and_its_clones(name, parameters, data):
    texts, labels = stream(data)
    model = clone(make(name).set_params(**parameters))
    assert {key: model.get_params()[key] for key in parameters} == parameters
    learner = getattr(learners, name)(**parameters, features=model.features)
    learner.learn_many(texts, labels)
    model.partial_fit(texts, labels)
    order = [learner.labels.names.index(label) for label in model.classes_]
    assert_array_equal(model.decision_function(texts), learner.scores_many(texts)[:, order])


@EVERY
@pytest.mark.parametrize("size", [1, 7])
def test_portions_of_partial_fit_change_nothing(name, size, data):
    texts, labels = stream(data)
    parts, whole = make(name), make(name).partial_fit(texts, labels)
    for begin in range(0, len(texts), size):
        assert parts.partial_fit(texts[begin : begin + size], labels[begin : begin + size]) is parts
    assert_array_equal(parts.classes_, whole.classes_)
    assert_array_equal(parts.decision_function(texts), whole.decision_function(texts))
    for text, score, share, label in zip(
        texts, whole.decision_function(texts), whole.predict_proba(texts), whole.predict(texts), strict=True
    ):
        assert_array_equal(parts.decision_function([text]), [score])
        assert_array_equal(parts.predict_proba([text]), [share])
        assert parts.predict([text]) == [label]


@pytest.mark.parametrize(
    "form",
    [
        tuple,
        np.array,
        lambda texts: np.array(texts, object),
        lambda texts: pd.Series(texts, index=range(5, 11)),
        lambda texts: pd.Series(texts, dtype="string"),
    ],
)
@EVERY
def test_texts_may_be_lists_arrays_or_series(name, form):
    expected = make(name).fit(TEXTS, LABELS)
    found = make(name).fit(form(TEXTS), form(LABELS))
    for n in (6, 1):
        assert_array_equal(found.predict(form(TEXTS)[:n]), expected.predict(TEXTS[:n]))
        assert_array_equal(found.decision_function(form(TEXTS)[:n]), expected.decision_function(TEXTS[:n]))


@EVERY
def test_new_labels_may_appear_at_any_time(name):
    model = make(name).partial_fit(["a"], ["m"])
    assert model.classes_.tolist() == ["m"]
    assert model.predict(["a"]).tolist() == ["m"]
    assert model.decision_function(["a", "b"]).shape == (2, 1)
    model.partial_fit(["b"], ["z"])
    assert model.decision_function(["a", "b"]).shape == (2,)
    for _ in range(3):
        model.partial_fit(["a", "b", "c"], ["m", "z", "aaaaaa"])
    assert model.classes_.tolist() == ["aaaaaa", "m", "z"]
    assert model.predict(["a", "b", "c"]).tolist() == ["m", "z", "aaaaaa"]
    assert model.predict_proba(["a"]).shape == (1, 3)


@EVERY
def test_announced_labels_can_be_predicted_from_the_start(name):
    model = make(name).partial_fit(["a", "b"], ["x", "y"], classes=["z", "x", "y", "x"])
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert (model.predict_proba(["a"]) > 0).all()
    assert np.isfinite(model.decision_function(["a"])).all()
    model.partial_fit(["c"], ["new"], classes=["later"])
    assert model.classes_.tolist() == ["later", "new", "x", "y", "z"]


@pytest.mark.parametrize("labels", [[0, 1], [True, False], [2.0, -1.0], ["b", "a"], [7, 3]])
@EVERY
def test_labels_of_any_type(name, labels):
    given = np.array(labels)
    model = make(name).partial_fit(["a", "b"] * 3, np.tile(given, 3))
    assert model.classes_.dtype == given.dtype
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(["a", "b"]).tolist() == labels
    one = make(name)
    for text, label in zip(["a", "b"] * 3, labels * 3, strict=True):
        one.partial_fit([text], [label])
    assert_array_equal(one.decision_function(["a", "b"]), model.decision_function(["a", "b"]))


@EVERY
def test_the_second_of_two_labels_is_positive(name):
    model = make(name).fit(TEXTS, LABELS)
    assert model.classes_.tolist() == ["ham", "spam"]
    assert ((model.decision_function(TEXTS) > 0) == (model.predict(TEXTS) == "spam")).all()
    assert model.decision_function(["win a prize"]) > 0 > model.decision_function(["see lunch"])


@EVERY
def test_fit_learns_samples_sorted_by_label(name, data):
    """It shuffles them, always in the same order."""
    texts, labels = stream(data)
    order = np.argsort(labels, kind="stable")
    weights = np.linspace(0, 2, len(texts))
    texts, labels = np.array(texts)[order], np.array(labels)[order]
    model = make(name).fit(texts, labels, weights)
    drawn = np.random.RandomState(0).permutation(len(texts))
    alike = make(name).partial_fit(texts[drawn], labels[drawn], sample_weight=weights[drawn])
    assert_array_equal(model.decision_function(texts), alike.decision_function(texts))
    in_order = make(name).partial_fit(texts, labels)
    assert name == "NaiveBayes" or make(name).fit(texts, labels).score(texts, labels) > in_order.score(texts, labels)


@EVERY
def test_fit_forgets_earlier_samples(name):
    model = make(name).fit(["a", "b"], ["x", "y"]).fit(TEXTS, LABELS)
    assert_array_equal(model.decision_function(TEXTS), make(name).fit(TEXTS, LABELS).decision_function(TEXTS))
    model.fit(np.tile(np.eye(2), (3, 1)), [0, 1] * 3)
    assert model.predict(np.eye(2)).tolist() == [0, 1]
    model.fit(TEXTS, LABELS)
    assert not hasattr(model, "n_features_in_")


@EVERY
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_is_independent(name, copied):
    model = make(name).fit(TEXTS, LABELS)
    model.predict(TEXTS[:1])
    other = copied(model)
    model.partial_fit(["something else"], ["new"])
    assert_array_equal(other.decision_function(TEXTS), make(name).fit(TEXTS, LABELS).decision_function(TEXTS))


@EVERY
def test_joblib_saves_and_loads_a_model(name, tmp_path):
    model = make(name).fit(TEXTS, LABELS)
    joblib.dump(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 100_000
    read = joblib.load(tmp_path / "model", mmap_mode="r")
    assert_array_equal(read.decision_function(TEXTS), model.decision_function(TEXTS))


def test_a_clone_keeps_parameters_and_forgets_the_rest():
    model = sklearn.LogisticRegression(eta=0.3, squares="feature", features=View(bits=9)).fit(TEXTS, LABELS)
    other = clone(model)
    assert (other.eta, other.squares, other.features.bits) == (0.3, "feature", 9)
    with pytest.raises(NotFittedError):
        other.predict(TEXTS)
    assert repr(sklearn.NaiveBayes(alpha=3.0)) == "NaiveBayes(alpha=3.0)"


def test_grid_search_finds_parameters(data):
    texts, labels = stream(data, 300)
    views = [View(ViewConfig(ngrams=(1, longest))) for longest in (1, 2)]
    search = GridSearchCV(sklearn.NaiveBayes(), {"alpha": [0.1, 1.0], "features": views}, cv=3).fit(texts, labels)
    assert search.best_score_ > 0.5
    assert cross_val_score(sklearn.NaiveBayes(**search.best_params_), texts, labels, cv=3).mean() == search.best_score_


@pytest.mark.parametrize(
    ("X", "y", "more", "message"),
    [
        ("a text", ["x"], {}, "X must be a sequence of texts, got a single text"),
        (["a", None], ["x", "y"], {}, r"all must be texts, but X\[1\] is None"),
        (["a", "b"], ["x"], {}, "X has 2 samples and y has 1"),
        (["a"], ["x", "y"], {}, "X has 1 samples and y has 2"),
        (["a", "b"], None, {}, "requires y to be passed"),
        (["a", "b"], [0.5, 1.5], {}, "Unknown label type"),
        (["a", "b"], [np.nan, 1.0], {}, "Input y contains NaN"),
        (["a", "b"], ["x", "y"], {"sample_weight": [1.0]}, r"sample_weight must be of shape \(2,\), got \(1,\)"),
        (["a", "b"], ["x", "y"], {"sample_weight": [1.0, -1.0]}, r"invalid weight -1.0"),
        (["a", "b"], ["x", "y"], {"sample_weight": [0, 0]}, "sample_weight is zero for all"),
        ([], [], {}, r"0 sample\(s\)"),
    ],
)
def test_invalid_input_raises_value_error(X, y, more, message):
    with pytest.raises(ValueError, match=message):
        sklearn.Perceptron().fit(X, y, **more)


def test_invalid_later_input_changes_nothing():
    model = sklearn.Perceptron().fit(TEXTS, LABELS)
    before = model.decision_function(TEXTS)
    for X, y, message in (
        (np.eye(2), ["ham", "spam"], "X must be texts, as in the first call"),
        (["new"], [1], "Mix of label input types"),
        (["new", 5], ["ham", "spam"], r"X\[1\] is 5"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X, y)
    with pytest.raises(ValueError, match="X must be texts"):
        model.predict(np.eye(2))
    assert_array_equal(model.decision_function(TEXTS), before)
    assert model.classes_.tolist() == ["ham", "spam"]


def test_an_invalid_parameter_is_refused_at_the_first_fit():
    model = sklearn.NaiveBayes(alpha=-1)
    with pytest.raises(ValueError, match=r"naive_bayes.alpha must be greater than 0, got -1"):
        model.fit(TEXTS, LABELS)
