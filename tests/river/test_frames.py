"""Series and DataFrames of pandas give the results of single events, bit for bit."""

import numpy as np
import pandas as pd
import pytest
from river import feature_extraction

from streamlin import RecordError, View, ViewConfig, river
from tests.sample_streams import read_events

EVERY = pytest.mark.parametrize("name", river.__all__)


def stream(data, n=120):
    events = read_events(data / "trec-6.jsonl.gz", n)
    return pd.Series([e.text for e in events], index=range(100, 100 + n)), pd.Series([e.label for e in events])


def small(name):
    return getattr(river, name)(features=View(ViewConfig(ngrams=(1, 1), values="counts"), bits=16))


def assert_same(many, one, X, xs):
    """Two models give the same predictions for the rows of X, which are `xs`."""
    assert many.predict_many(X).tolist() == [one.predict_one(x) for x in xs]
    shares = many.predict_proba_many(X)
    assert shares.index.equals(X.index)
    assert shares.to_dict("records") == [one.predict_proba_one(x) for x in xs]


@EVERY
def test_texts(name, data):
    X, y = stream(data)
    many, one = small(name), small(name)
    for begin in (0, 50, 51, 51):
        end = {0: 50, 50: 51, 51: 120}[begin]
        weights = pd.Series(np.linspace(0, 2, end - begin))
        many.learn_many(X[begin:end], y[begin:end], weights)
        for x, label, w in zip(X[begin:end], y[begin:end], weights, strict=True):
            one.learn_one(x, label, w)
    assert_same(many, one, X, X)


@EVERY
def test_dense_and_sparse_frames_give_equal_results(name, data):
    """The columns of a batch are its words, as from river's transformer."""
    X, y = stream(data)
    bag = feature_extraction.BagOfWords()
    dense, sparse, piped, one = small(name), small(name), bag | small(name), small(name)
    for begin in range(0, 120, 40):
        part, labels = X[begin : begin + 40], y[begin : begin + 40]
        table = bag.transform_many(part)
        sparse.learn_many(table, labels)
        dense.learn_many(table.sparse.to_dense(), labels)
        piped.learn_many(part, labels)
        for row, label in zip(table.sparse.to_dense().to_dict("records"), labels, strict=True):
            one.learn_one(row, label)
    table = bag.transform_many(X)
    rows = table.sparse.to_dense().to_dict("records")
    assert_same(sparse, one, table, rows)
    assert_same(dense, one, table.sparse.to_dense(), rows)
    assert piped.predict_many(X).tolist() == [one.predict_one(row) for row in rows]


def test_predictions_before_learning_are_none():
    X = pd.Series(["a", "b"], index=["x", "y"])
    model = river.NaiveBayes()
    assert model.predict_many(X).to_dict() == {"x": None, "y": None}
    assert model.predict_proba_many(X).shape == (2, 0)
    assert model.predict_many(X[:0]).empty


@pytest.mark.parametrize("labels", [[True, False], [3, 5], ["x", "y"]])
def test_predictions_have_the_type_of_labels(labels):
    X, y = pd.Series(["a", "b"] * 4), pd.Series(labels * 4)
    model = river.NaiveBayes()
    model.learn_many(X, y)
    assert model.predict_many(X).dtype == y.dtype
    assert model.predict_many(X).tolist() == y.tolist()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.Series(["a", None]), "invalid input None: expected only texts"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.nan]}), "feature 'b' has a value that is not a finite number"),
        (pd.DataFrame({"a": [1.0, 1e300]}), "feature 'a' has a value"),
        (pd.DataFrame({"a": [1.0, -2.0]}), "a value is -2.0, it must be 0 or more"),
    ],
)
def test_invalid_frames_are_refused_and_not_learned(X, message):
    model = river.NaiveBayes()
    with pytest.raises(RecordError, match=message), np.errstate(over="ignore"):
        model.learn_many(X, pd.Series(["x", "y"]))
    assert model.predict_proba_one("a") == {}


def test_different_lengths_are_refused():
    with pytest.raises(ValueError, match="features, labels and weights must have the same length, got 2, 1 and 2"):
        river.NaiveBayes().learn_many(pd.Series(["a", "b"]), pd.Series(["x"]))
