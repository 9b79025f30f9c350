"""Matrices: column j is feature j, in any form of matrix."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from streamlin import View, ViewConfig, learners, sklearn
from tests.sample_streams import read_events
from tests.sklearn.kinds import CLASSIFIERS

EVERY = pytest.mark.parametrize("name", CLASSIFIERS)
BITS = 12
VIEW = View(ViewConfig(tokens="scikit-learn", ngrams=(1, 1), values="counts"), BITS)


def hashing():
    """scikit-learn's vectorizer with the buckets of VIEW as columns."""
    return HashingVectorizer(n_features=1 << BITS, alternate_sign=False, norm=None)


def stream(data, n=200):
    events = read_events(data / "trec-6.jsonl.gz", n)
    return [event.text for event in events], [event.label for event in events]


def random(n=80, width=7):
    """Sparse rows without negative values, some empty, whose first columns depend on the label."""
    generator = np.random.default_rng(0)
    X = generator.integers(0, 3, (n, width)) * (generator.random((n, width)) < 0.3)
    y = generator.integers(0, 3, n)
    X[np.arange(n), y] += 2
    return X.astype(float), np.array(["b", "c", "a"])[y]


@EVERY
def test_a_vectorizer_and_texts_give_equal_results(name, data):
    """Up to rounding: the vectorizer sorts the columns of each row, which changes the order of sums."""
    texts, labels = stream(data)
    columns = make_pipeline(hashing(), getattr(sklearn, name)()).fit(texts, labels)
    alone = getattr(sklearn, name)(features=VIEW).fit(texts, labels)
    assert_allclose(columns.decision_function(texts), alone.decision_function(texts), rtol=1e-4, atol=1e-4)


@EVERY
def test_a_wrapper_predicts_as_its_learner(name):
    """The learner gets each row as a mapping; its names are hashed to other buckets, which does not matter."""
    X, y = random()
    model, learner = getattr(sklearn, name)().partial_fit(X, y), getattr(learners, name)(features=View(bits=20))
    learner.learn_many([{str(j): x for j, x in enumerate(row)} for row in X.tolist()], y.tolist())
    scores = learner.scores_many([{str(j): x for j, x in enumerate(row)} for row in X.tolist()])
    assert_array_equal(model.decision_function(X), scores[:, np.argsort(learner.labels.names)])


@EVERY
@pytest.mark.parametrize("form", [csr_matrix, csr_array, csc_matrix, coo_array, pd.DataFrame, np.ndarray.tolist])
def test_all_forms_of_a_matrix_give_equal_results(name, form):
    X, y = random()
    found, expected = getattr(sklearn, name)().fit(form(X), y), getattr(sklearn, name)().fit(X, y)
    assert_array_equal(found.decision_function(form(X)), expected.decision_function(X))
    assert_array_equal(found.predict(X), expected.predict(X))
    assert found.n_features_in_ == 7


@EVERY
@pytest.mark.parametrize("size", [1, 7])
def test_portions_of_partial_fit_change_nothing(name, size):
    X, y = random()
    parts, whole = getattr(sklearn, name)(), getattr(sklearn, name)().partial_fit(X, y)
    for begin in range(0, len(X), size):
        parts.partial_fit(csr_matrix(X[begin : begin + size]), y[begin : begin + size])
    assert_array_equal(parts.decision_function(X), whole.decision_function(X))


def test_the_users_matrix_is_not_changed():
    """Duplicate entries and zeros are cleaned up in a copy."""
    X = csr_matrix((np.array([1.0, 0.0, 2.0, 3.0]), np.array([1, 0, 1, 2]), np.array([0, 3, 4])), shape=(2, 3))
    model = sklearn.NaiveBayes().fit(X, ["a", "b"])
    assert X.data.tolist() == [1.0, 0.0, 2.0, 3.0]
    assert X.indices.tolist() == [1, 0, 1, 2]
    expected = sklearn.NaiveBayes().fit([[0, 3, 0], [0, 0, 3]], ["a", "b"])
    assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_one_column_and_very_many_are_accepted():
    for width in (1, 2, 3, 1 << 22):
        X = csr_matrix((np.ones(4), np.array([0, width - 1] * 2), np.arange(5)), shape=(4, width))
        model = sklearn.Perceptron().fit(X, ["a", "b"] * 2)
        assert model.predict(X).tolist() == (["a", "b"] * 2 if width > 1 else model.predict(X).tolist())
        assert model.n_features_in_ == width


@EVERY
@pytest.mark.parametrize("vectorizer", [HashingVectorizer(alternate_sign=False), CountVectorizer(), TfidfVectorizer()])
def test_pipelines_work_in_cross_validation(name, vectorizer, data):
    texts, labels = stream(data, 600)
    scores = cross_val_score(make_pipeline(vectorizer, getattr(sklearn, name)()), texts, labels, cv=2)
    majority = max(map(labels.count, labels)) / len(labels)
    assert scores.mean() > majority + 0.1


def test_invalid_matrices_raise_value_error():
    X, y = random()
    with pytest.raises(ValueError, match=r"Negative values in data passed to NaiveBayes"):
        sklearn.NaiveBayes().fit(-X, y)
    model = sklearn.NaiveBayes().fit(X, y)
    for given, message in (
        (-X, "Negative values"),
        (X[:, 1:], "6 features, but NaiveBayes is expecting 7"),
        (np.full((1, 7), np.nan), "contains NaN"),
        (np.full((1, 7), 1e300), "too large for dtype"),
        (["a text"], "X must be a matrix, as in the first call"),
    ):
        with pytest.raises(ValueError, match=message), np.errstate(over="ignore"):
            model.predict(given)
