"""Taggers in the manner of scikit-learn: they give the results of a pipeline, in portions of any size."""

import copy
import inspect
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from streamlin import Pipeline, sklearn
from streamlin.config import RunConfig
from streamlin.sklearn import tagger as tagger_module
from tests.sklearn.kinds import CLASSIFIERS, TAGGERS
from tests.tagging.running import real_sentences, roughened

EVERY = pytest.mark.parametrize("name", TAGGERS)
FORMS = [
    *((name, {}) for name in TAGGERS),
    ("CRF", {"counts": True}),
    ("LogLinear", {"beam": 3}),
    ("StructuredPerceptron", {"step": "perceptron"}),
    ("StructuredPerceptron", {"step": "passive_aggressive", "C": 0.5}),
    ("HMM", {"order": 1}),
]
X = [["The", "dog", "barks"], ["a", "cat", "sleeps", "."], ["Dogs", "bark"], ["."], ["a", "dog"]]
Y = [["D", "N", "V"], ["D", "N", "V", "."], ["N", "V"], [None], ["D", None]]


@pytest.fixture(scope="module")
def real(data):
    """Sentences with hidden tags, and their weights; and others."""
    sentences = real_sentences(data / "pos-ud-ewt.jsonl.gz", 160)
    rough = roughened(sentences[:120])
    return [s.tokens for s in rough], [s.tags for s in rough], [s.weight for s in rough], sentences[120:]


def make(name, **parameters):
    return getattr(sklearn, name)(**{"bits": 18} | parameters)


def piped(name, real, **parameters):
    """A pipeline that has learned the same sentences."""
    learner = {"kind": TAGGERS[name]} | parameters
    pipeline = Pipeline(task="tagging", learners=[learner], features={"bits": 18})
    return pipeline.learn_many(*real[:3])


def arrays_of(model):
    tagger = model.tagger_
    return tagger.tagger.state(*tagger.features.sizes, len(tagger.labels))


def assert_equal(model, other, sentences=X):
    """The same tags and weights, bit for bit."""
    assert model.predict(sentences) == other.predict(sentences)
    assert model.classes_.tolist() == other.classes_.tolist()
    found, expected = arrays_of(model), arrays_of(other)
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[key], expected[key]) for key in found)


@pytest.mark.parametrize(("name", "parameters"), FORMS, ids=lambda value: str(value))
def test_a_tagger_predicts_as_the_pipeline_to_the_bit(name, parameters, real):
    tokens, tags, weights, others = real
    model, pipeline = make(name, **parameters), piped(name, real, **parameters)
    model.partial_fit(tokens, tags, weights)
    unseen = [sentence.tokens for sentence in others]
    assert model.predict(unseen) == pipeline.predict_many(unseen)
    arrays = pipeline._state.model.state()[0]
    own = arrays_of(model)
    assert own
    for key, array in own.items():
        assert np.array_equal(array, arrays[f"learners/{TAGGERS[name]}/{key}"]), key


@EVERY
@pytest.mark.parametrize("size", [1, 7])
def test_fit_equals_partial_fit_in_portions(name, size, real):
    tokens, tags, weights, others = real
    parts = make(name)
    for begin in range(0, len(tokens), size):
        own = (columns[begin : begin + size] for columns in (tokens, tags, weights))
        assert parts.partial_fit(*own) is parts
    assert_equal(make(name).fit(tokens, tags, weights), parts, [sentence.tokens for sentence in others])


@EVERY
def test_fit_forgets_earlier_sentences(name):
    model = make(name).fit([["x", "y"]], [["A", "B"]]).fit(X, Y)
    assert_equal(model, make(name).fit(X, Y))
    assert model.classes_.tolist() == [".", "D", "N", "V"]


@EVERY
def test_parameters_are_those_of_the_tagger_and_its_features(name):
    model = getattr(sklearn, name)()
    config = RunConfig(task="tagging", learners=[{"kind": TAGGERS[name]}])
    own = config.learners[0].model_dump()
    features = {"columns": (), "bits": config.features.bits, "max_rows": config.features.max_rows}
    assert model.get_params() == {key: own[key] for key in own if key not in ("kind", "name")} | features
    for parameter in model.get_params():
        assert f"\n    {parameter} : " in model.__doc__, "it is documented"
    assert sorted(inspect.signature(type(model)).parameters) == sorted(model.get_params())


@EVERY
def test_a_clone_keeps_parameters_and_forgets_the_rest(name):
    model = make(name, max_rows=7777).fit(X, Y)
    other = clone(model)
    assert other.get_params() == model.get_params()
    assert (other.bits, other.max_rows) == (18, 7777)
    with pytest.raises(NotFittedError):
        other.predict(X)
    assert other.set_params(bits=9).bits == 9
    assert "bits=9" in repr(other)


@EVERY
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_is_independent(name, copied):
    model = make(name).fit(X, Y)
    other = copied(model)
    model.partial_fit([["something", "else"]], [["New", "N"]])
    assert_equal(other, make(name).fit(X, Y))
    assert_equal(other.partial_fit([["something", "else"]], [["New", "N"]]), model)


@EVERY
def test_a_tagger_that_knows_no_tag_can_be_copied(name):
    model = make(name).partial_fit(X[:1], [[None] * 3])
    assert_equal(pickle.loads(pickle.dumps(model)).partial_fit(X, Y), make(name).partial_fit(X, Y))


@EVERY
def test_joblib_saves_and_loads_a_tagger(name, tmp_path):
    model = make(name).fit(X, Y)
    joblib.dump(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 100_000
    assert_equal(joblib.load(tmp_path / "model"), model)


@pytest.mark.parametrize("form", [tuple, np.array, lambda tokens: np.array(tokens, object)])
def test_sentences_may_be_tuples_or_arrays(form):
    expected = make("CRF").fit(X, Y)
    assert_equal(make("CRF").fit(list(map(form, X)), list(map(form, Y[:3])) + Y[3:]), expected)
    assert_equal(make("CRF").fit(pd.Series(X), pd.Series(Y)), expected)


def test_columns_are_given_by_name():
    columns = [{"tokens": tokens, "pos": [token[-1] for token in tokens]} for tokens in X]
    model = make("CRF", columns=("pos",)).fit(columns, Y)
    pipeline = Pipeline(
        task="tagging", learners=["crf"], features={"bits": 18}, fields={"columns": ["pos"]}
    ).learn_many(columns, Y)
    assert model.predict(columns) == pipeline.predict_many(columns)
    arrays = pipeline._state.model.state()[0]
    assert all(np.array_equal(array, arrays[f"learners/crf/{key}"]) for key, array in arrays_of(model).items())
    assert make("CRF").fit(columns, Y).predict(columns) == make("CRF").fit(X, Y).predict(X)


@EVERY
def test_score_is_the_share_of_known_tags_that_are_right(name):
    model = make(name)
    for _ in range(5):
        model.partial_fit(X, Y)
    assert model.predict(X)[:3] == Y[:3]
    assert model.score(X, Y) == 1.0
    assert model.score(X[:2], [["D", "N", "N"], ["D", "N", "V", None]]) == 5 / 6
    assert model.score(X[:2], [["D", "N", "N"], ["D", "N", "V", None]], [3.0, 1.0]) == (2 * 3 + 3) / (3 * 3 + 3)
    with pytest.raises(ValueError, match="y has no tag that is known"):
        model.score(X[3:4], [[None]])


@EVERY
def test_weights_multiply_what_is_learned(name, real):
    """Of weight 0 nothing is; half of it is not all."""
    tokens, tags, _, _ = real
    model = make(name).partial_fit(X, Y)
    before = arrays_of(model)
    model.partial_fit([["new"]], [["Other"]], [0.0])
    assert all(np.array_equal(array, before[key]) for key, array in arrays_of(model).items())
    assert model.classes_.tolist() == [".", "D", "N", "V"]
    half, whole = make(name).fit(tokens, tags, np.full(len(tokens), 0.5)), make(name).fit(tokens, tags)
    found, expected = arrays_of(half), arrays_of(whole)
    assert any(not np.array_equal(found[key], expected[key]) for key in found if found[key].size == expected[key].size)


def test_cross_validation_and_grid_search(real):
    tokens, tags, _, _ = real
    scores = cross_val_score(make("HMM"), tokens, tags, cv=3)
    assert (scores > 0.3).all()
    search = GridSearchCV(make("HMM"), {"order": [1, 2], "alpha": [1.0, 5.0]}, cv=2).fit(tokens, tags)
    assert set(search.best_params_) == {"order", "alpha"}
    assert search.best_estimator_.score(tokens, tags) > 0.5


def test_features_beyond_max_rows_are_a_warning():
    model = make("CRF", max_rows=30)
    with pytest.warns(UserWarning, match="^max_rows: there are 30 features, further ones are ignored$"):
        model.fit(X, Y)
    model.partial_fit(X, Y)  # warnings are errors here: once is enough


def test_a_tagger_that_knows_no_tag_is_not_fitted():
    model = make("CRF").partial_fit(X[:1], [[None] * 3])
    for method in (lambda: model.predict(X), lambda: model.score(X, Y), lambda: make("HMM").predict(X)):
        with pytest.raises(NotFittedError):
            method()
    with pytest.raises(ValueError, match="y has no tag that is known"):
        make("CRF").fit(X[:1], [[None] * 3])
    assert model.partial_fit(X, Y).predict([[]]) == [[]]


@pytest.mark.parametrize(
    ("given", "tags", "says"),
    [
        ("the dog", [["D", "N"]], "X must be a list of sentences, got a text: 'the dog'"),
        (["the", "dog"], ["D", "N"], "X[0] must be a list of tokens, got a text: 'the'"),
        ([], [], "X has 0 sample(s), at least one is required"),
        (None, [["D"]], "X must be a list of sentences, got None"),
        ({"tokens": ["a"]}, [["D"]], "X must be a list of sentences, got {'tokens': ['a']}"),
        ([["the", 5]], [["D", "N"]], "X[0][1] must be a text, got 5"),
        ([["a"], ["the", None]], [["D"], ["D", "N"]], "X[1][1] must be a text, got None"),
        ([{"words": ["a"]}], [["D"]], "X[0] lacks 'tokens', it has 'words'"),
        ([["a"]], None, "a tagger requires y to be passed, but the target y is None"),
        ([["a"]], "D", "y must be a list of lists of tags, got a text: 'D'"),
        ([["a"]], ["D"], "y[0] must be a list of tags, got a text: 'D'"),
        ([["a"]], [None], "y[0] must be a list of tags, got None"),
        ([["a"]], [[5]], "y[0][0] must be a text or None, got 5"),
        ([["a"], ["b"]], [["D"]], "X has 2 sentences and y has 1"),
        ([["a"], ["b", "c"]], [["D"], ["D"]], "y[1] has 1 tags for 2 tokens, expected as many"),
    ],
)
def test_invalid_sentences_and_tags_raise_value_error(given, tags, says):
    """In one line; nothing is learned."""
    model = make("CRF").fit(X, Y)
    before = arrays_of(model)
    for method in (model.partial_fit, make("HMM").fit, model.score):
        with pytest.raises(ValueError) as error:  # noqa: PT011  # the whole text is compared
            method(given, tags)
        assert str(error.value) == says
    assert all(np.array_equal(array, before[key]) for key, array in arrays_of(model).items())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([["a"]], "X[0] must be a mapping with 'tokens' and 'pos', got ['a']"),
        ([{"tokens": ["a"]}], "X[0] lacks 'pos', it has 'tokens'"),
        ([{"tokens": ["a"], "pos": ["A", "B"]}], "X[0]['pos'] has 2 values for 1 tokens, expected as many"),
        ([{"tokens": ["a"], "pos": "A"}], "X[0]['pos'] must be a list of values, got a text: 'A'"),
        ([{"tokens": ["a"], "pos": [1]}], "X[0]['pos'][0] must be a text or None, got 1"),
    ],
)
def test_invalid_columns_raise_value_error(given, says):
    model = make("CRF", columns=("pos",))
    with pytest.raises(ValueError) as error:  # noqa: PT011
        model.fit(given, [["D"]])
    assert str(error.value) == says


@pytest.mark.parametrize(
    ("name", "parameters", "says"),
    [
        ("CRF", {"eta": 0.0}, "crf.eta must be greater than 0, got 0.0"),
        ("HMM", {"order": 3}, "hmm.order must be 1 or 2, got 3"),
        ("LogLinear", {"beam": 0}, "log_linear.beam must be greater than or equal to 1, got 0"),
        ("CRF", {"bits": 32}, "features.bits must be less than or equal to 31, got 32"),
        ("CRF", {"max_rows": 0}, "features.max_rows must be greater than or equal to 1, got 0"),
        ("CRF", {"columns": "pos"}, "features.columns must be a valid tuple, got 'pos'"),
    ],
)
def test_invalid_parameters_raise_value_error(name, parameters, says):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        make(name, **parameters).fit(X, Y)
    assert str(error.value) == says


def test_invalid_weights_raise_value_error():
    for weights, says in (
        ([1.0], "sample_weight must be of shape"),
        ([-1.0] * 5, "sample_weight: invalid weight -1.0"),
    ):
        with pytest.raises(ValueError, match=says):
            make("CRF").fit(X, Y, weights)


def test_too_many_tags_raise_value_error(monkeypatch):
    monkeypatch.setattr(tagger_module, "MOST_TAGS", 3)
    model = make("CRF").partial_fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="y has more than 3 different tags; are these the tags"):
        model.partial_fit(X, Y)
    assert model.classes_.tolist() == ["D", "N", "V"]


def test_all_names_are_classifiers_and_taggers():
    assert sklearn.__all__ == sorted([*CLASSIFIERS, *TAGGERS])
    with pytest.raises(TypeError, match=r"^CRF\(\) got an unexpected keyword argument 'order'$"):
        sklearn.CRF(order=2)
