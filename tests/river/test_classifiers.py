"""The wrappers give the results of the learners, and river can use them like its own classifiers."""

import copy
import pickle
from collections import Counter
from functools import partial
from math import inf

import numpy as np
import pytest
from river import base, compose, ensemble, evaluate, feature_extraction, metrics, model_selection, preprocessing, utils

from streamlin import ConfigError, RecordError, View, ViewConfig, learners, river
from tests.sample_streams import read_events, thinned

EVERY = pytest.mark.parametrize("name", river.__all__)
WORDS = partial(View, ViewConfig(ngrams=(1, 1), values="counts"), bits=16)


def events(data, n=300):
    """Texts, labels and weights of the labelled events of a real stream."""
    return [(e.text, e.label, e.weight) for e in thinned(read_events(data / "trec-6.jsonl.gz", n)) if e.label]


def bag():
    """river's transformer with the tokens of WORDS."""
    return feature_extraction.BagOfWords(strip_accents=False, tokenizer_pattern=r"(?u)\w+")


def taught(model, stream):
    """Learn the stream; returns the predictions, each made before its text was learned."""
    found = []
    for x, y, w in stream:
        found.append((model.predict_one(x), model.predict_proba_one(x)))
        model.learn_one(x, y, w=w)
    return found


@EVERY
def test_a_wrapper_predicts_as_its_learner(name, data):
    ours, learner = getattr(river, name)(features=WORDS()), getattr(learners, name)(features=WORDS())
    assert isinstance(ours, base.Classifier)
    assert ours.__doc__.split("\n\n    Raises")[0] == learner.__doc__.split("\n\n    Attributes")[0]
    assert taught(ours, events(data)) == taught(learner, events(data))


def test_parameters_reach_the_learner(data):
    """Those of a mean without slack, and of a shrinking rate."""
    for name, parameters in (
        ("PassiveAggressive", {"C": inf, "averaged": True, "half_life": 50.0}),
        ("StochasticGradientDescent", {"rate": "bottou", "l2": 0.01}),
    ):
        ours, learner, default = (
            getattr(river, name)(**parameters, features=WORDS()),
            getattr(learners, name)(**parameters, features=WORDS()),
            getattr(learners, name)(features=WORDS()),
        )
        assert taught(ours, events(data)) == taught(learner, events(data)) != taught(default, events(data))


@EVERY
def test_texts_and_bags_of_words_give_equal_results(name, data):
    """The bag has the words in the same order, so results are equal bit for bit."""
    texts, bags = getattr(river, name)(features=WORDS()), bag() | getattr(river, name)(features=WORDS())
    assert taught(texts, events(data)) == taught(bags, events(data))


def test_ngrams_of_a_mapping_equal_those_of_a_text():
    pairs = feature_extraction.BagOfWords(tokenizer=str.split, ngram_range=(1, 2))
    view = View(ViewConfig(ngrams=(1, 2), values="counts"))
    ours = river.NaiveBayes(features=view)
    for text, label in (("win a prize", "spam"), ("see you at lunch", "ham"), ("a prize you see", "spam")):
        ours.learn_one(pairs.transform_one(text), label)
        one = ours.predict_proba_one(pairs.transform_one("you see a prize"))
        assert one == ours.predict_proba_one("you see a prize")


def test_feature_names_may_have_any_type():
    ours, plain = river.Perceptron(), river.Perceptron()
    for _ in range(3):
        for x, named, label in (({1: 2.0, "1": 1.0}, {"1": 3.0}, "a"), ({2.5: 1, None: 2}, {"2.5": 1, "None": 2}, "b")):
            ours.learn_one(x, label)
            plain.learn_one(named, label)
            assert ours.predict_proba_one(x) == plain.predict_proba_one(named)
            assert ours.predict_one(x) == plain.predict_one(named)


@EVERY
@pytest.mark.parametrize("labels", [(True, False), (0, 1), (7, -3), (("a", 1), None, ("b", 2)), ("", "x"), (0.5, 1.5)])
def test_labels_of_any_type_are_returned_unchanged(name, labels):
    model = getattr(river, name)()
    words = {label: f"word{number}" for number, label in enumerate(labels)}
    for _ in range(5):
        for label in labels:
            model.learn_one(words[label], label)
    for label in labels:
        if label is not None:  # which is no label
            assert model.predict_one(words[label]) is label
    assert list(model.predict_proba_one("")) == [label for label in labels if label is not None]


def test_the_predicted_label_is_the_learned_object():
    label = np.bool_(True)
    model = river.NaiveBayes()
    model.learn_one("a text", label)
    assert model.predict_one("a text") is label


@EVERY
def test_predictions_before_learning_are_none(name):
    model = getattr(river, name)()
    assert model.predict_one("a text") is None
    assert model.predict_proba_one({"a": 1}) == {}


@EVERY
def test_progressive_validation(name, data):
    stream = [(text, label) for text, label, _ in events(data)]
    model = getattr(river, name)(features=WORDS())
    score = evaluate.progressive_val_score(stream, model.clone(), metrics.Accuracy())
    learner = getattr(learners, name)(features=WORDS())
    guesses = learner.learn_many(*map(list, zip(*stream, strict=True)))
    hits = sum(guess == label for guess, (_, label) in zip(guesses, stream, strict=True))
    assert score.get() == hits / (len(stream) - 1)  # river does not count that nothing was predicted
    piped = evaluate.progressive_val_score(stream, bag() | model.clone(), metrics.Accuracy())
    assert piped.get() == score.get()


def test_rivers_evaluation_passes_weights_on():
    stream = [("a b", "x", {"w": 2.0}), ("b c", "y", {"w": 0.5}), ("c", "z", {"w": 0.0}), ("a c", "y", {})]
    model, learner = river.NaiveBayes(), learners.NaiveBayes()
    evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    learner.learn_many(["a b", "b c", "c", "a c"], ["x", "y", "z", "y"], [2.0, 0.5, 0.0, 1.0])
    assert model.predict_proba_one("a b c") == learner.predict_proba_one("a b c")


@pytest.mark.parametrize(
    "make",
    [
        lambda model: ensemble.BaggingClassifier(model, n_models=3, seed=1),
        lambda model: ensemble.ADWINBaggingClassifier(model, n_models=3, seed=1),
        lambda model: ensemble.AdaBoostClassifier(model, n_models=3, seed=1),
        lambda model: ensemble.VotingClassifier([model, river.Perceptron(), river.Arow()]),
        lambda model: model_selection.SuccessiveHalvingClassifier(
            utils.expand_param_grid(model, {"alpha": [0.1, 0.3, 3.0], "smoothing": ["uniform", "prior"]}),
            metrics.Accuracy(),
            budget=200,
        ),
        lambda model: bag() | ensemble.BaggingClassifier(model, n_models=3, seed=1),
        lambda model: bag() | ensemble.StackingClassifier([model, river.Arow()], river.LogisticRegression(eta=0.1)),
        lambda model: compose.Pipeline(bag(), preprocessing.Normalizer(), model),
    ],
)
def test_wrappers_work_in_ensembles_and_pipelines(make, data):
    model = make(river.NaiveBayes(features=WORDS()))
    stream = [(text, label) for text, label, _ in events(data)]
    score = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    majority = Counter(label for _, label in stream).most_common(1)[0][1] / len(stream)
    assert score.get() > majority + 0.1


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@EVERY
def test_a_copy_is_independent(name, copied, data):
    model, expected = getattr(river, name)(), getattr(river, name)()
    stream = events(data, 60)
    taught(model, stream[:30])
    other = copied(model)
    taught(model, [("something else", "new", 1.0)])
    taught(expected, stream[:30])
    assert taught(other, stream[30:]) == taught(expected, stream[30:])


def test_a_clone_keeps_parameters_and_forgets_the_rest(data):
    model = river.LogisticRegression(eta=0.3, squares="feature", features=WORDS())
    taught(model, events(data, 30))
    clone = model.clone({"eta": 0.7})
    assert (clone.eta, clone.squares, clone.features.bits) == (0.7, "feature", 16)
    assert clone.predict_one("what is this") is None
    assert clone._learner.eta == 0.7


def test_a_pickle_is_as_small_as_what_was_learned(data):
    """60 texts have a few hundred words, not a million buckets."""
    model = river.NaiveBayes()
    taught(model, events(data, 60))
    assert len(pickle.dumps(model)) < 100_000


def test_invalid_input_is_refused():
    with pytest.raises(ConfigError, match=r"naive_bayes.alpha must be greater than 0, got -1"):
        river.NaiveBayes(alpha=-1)
    model = river.NaiveBayes()
    for x, message in ((5, "invalid input 5"), ({"a": "b"}, "feature 'a' is 'b'"), ({1: None}, "'1' is None")):
        for method in (model.predict_one, model.predict_proba_one, lambda x: model.learn_one(x, "y")):
            with pytest.raises(RecordError, match=message):
                method(x)
    with pytest.raises(RecordError, match=r"a value is -1.0, it must be 0 or more"):
        model.learn_one({"a": -1}, "y")
    with pytest.raises(RecordError, match="invalid weight -1"):
        model.learn_one("a", "y", w=-1)
    with pytest.raises(TypeError, match="unhashable"):
        model.learn_one("a", ["y"])
    assert model.predict_proba_one("a") == {}
