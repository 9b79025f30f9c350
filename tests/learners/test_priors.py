"""Learners that start with words set by hand."""

from math import exp, inf, log, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamlin import (
    Arow,
    AveragedPerceptron,
    Hinge,
    Learner,
    LogisticRegression,
    NaiveBayes,
    PassiveAggressive,
    Perceptron,
    StochasticGradientDescent,
    View,
    ViewConfig,
)
from streamlin.errors import ConfigError
from streamlin.learners import KINDS
from tests import naive
from tests.learners.running import check_against_twin
from tests.sample_streams import real_examples

OUTAGE = {"calm": {}, "urgent": {"outage": 1}}
P_CALM = 1 / (1 + exp(5))
ROOT = sqrt(2)

BY_HAND = {
    # N_uj = 10 and N_k = 10 for both labels, V = 1; then N_cj = 1, N_c = 11 and n_c = 1.
    "naive_bayes": (
        NaiveBayes(alpha=0.3),
        [log(1 / 2 * 0.3 / 10.3), log(1 / 2)],
        [log(2 / 3 * 1.3 / 11.3), log(1 / 3)],
    ),
    # 1 + 10 / (3 / 2); then N = 21, 1 + 1 / (3 · 11 / 21) and 1 + 10 / (3 · 10 / 21).
    "naive_bayes by prior": (
        NaiveBayes(alpha=3.0, smoothing="prior"),
        [log(1 / 2), log(1 / 2 * (1 + 20 / 3))],
        [log(2 / 3 * (1 + 21 / 33)), log(1 / 3 * 8)],
    ),
    # A mistake: weight and bias of calm become 1, those of urgent 9 and -1.
    "perceptron": (Perceptron(), [0, 10], [2, 8]),
    # The mistake is made at t = 0, so that U stays 0 and the mean is W.
    "averaged_perceptron": (AveragedPerceptron(), [0, 10], [2, 8]),
    # tau_1 = min(0.1, 1 / 4), W = 1; loss 2, tau = min(0.1, 2 / 4).
    "PA-I": (PassiveAggressive(), [0, 1], [0.2, 0.8]),
    "PA-I averaged": (PassiveAggressive(averaged=True), [0, 1], [0.2, 0.8]),
    # tau_1 = 1 / (4 + 5), W = 10 / 9; loss 19 / 9, tau = 19 / 81.
    "PA-II": (PassiveAggressive(variant=2), [0, 10 / 9], [38 / 81, 52 / 81]),
    # tau_1 = 1 / 4, W = 2.5; loss 3.5, tau = 3.5 / 4, after which the margin is 1.
    "MIRA": (PassiveAggressive(C=inf), [0, 2.5], [1.75, 0.75]),
    # The first step of Adagrad is eta, for the weight and the bias.
    "logistic_regression": (LogisticRegression(), [0, 4.5], [0.9, 3.6]),
    # G_j = 2 e^2, so the step is 1 / sqrt(2).
    "logistic_regression by feature": (
        LogisticRegression(eta=1.0, squares="feature"),
        [0, 10],
        [ROOT, 10 - ROOT],
    ),
    "hinge": (Hinge(), [0, 4.5], [0.9, 3.6]),
    # e_calm = p_calm - 1 for the softmax of (0, 5), times eta = 0.5 for the weight and the bias.
    "sgd": (StochasticGradientDescent(), [0, 5], [1 - P_CALM, 5 - (1 - P_CALM)]),
    # As after 10 steps: W = 10 / (0.1 · 10); the 11th is 1 / 1.1 and shrinks W to 10 / 11 of it.
    "pegasos": (
        StochasticGradientDescent(loss="hinge", rate="pegasos", l2=0.1),
        [0, 10],
        [2 / 1.1, 10 * 10 / 11 - 2 / 1.1],
    ),
    # tau_1 = 1 / (4 + 10), W = 10 / 14; loss 24 / 14, tau = 24 / 14 / 14.
    "arow": (Arow(), [0, 10 / 14], [48 / 196, 92 / 196]),
}
"""Learner; its scores of `outage` for calm and urgent with OUTAGE; the same after it learned `outage` as calm."""


@pytest.mark.parametrize(("learner", "before", "after"), BY_HAND.values(), ids=BY_HAND.keys())
def test_a_word_set_by_hand_is_a_start(learner: Learner, before: list[float], after: list[float]) -> None:
    learner.set_priors(OUTAGE)
    assert learner.labels.names == ["calm", "urgent"]
    assert_allclose(learner.scores_many(["outage"])[0], before, rtol=1e-6)
    assert learner.predict_many(["an outage", "nothing"]) == ["urgent", "calm"]  # a tie goes to the first label
    learner.learn_one("outage", "calm")
    assert_allclose(learner.scores_many(["outage"])[0], after, rtol=1e-6)


def test_every_kind_of_learner_is_worked_by_hand() -> None:
    assert {type(learner) for learner, _, _ in BY_HAND.values()} == set(KINDS.values())


TWINS = {
    "naive_bayes": (NaiveBayes, naive.NaiveNaiveBayes, {}),
    "naive_bayes by prior": (NaiveBayes, naive.NaiveNaiveBayes, {"smoothing": "prior", "alpha": 3.0}),
    "naive_bayes that forgets": (NaiveBayes, naive.NaiveNaiveBayes, {"half_life": 50.0}),
    "perceptron": (Perceptron, naive.NaivePerceptron, {}),
    "averaged_perceptron": (AveragedPerceptron, naive.NaiveAveragedPerceptron, {"half_life": 30.0}),
    "PA-I": (PassiveAggressive, naive.NaivePassiveAggressive, {}),
    "PA-II": (PassiveAggressive, naive.NaivePassiveAggressive, {"variant": 2}),
    "logistic_regression": (LogisticRegression, naive.NaiveLogisticRegression, {}),
    "by feature": (LogisticRegression, naive.NaiveLogisticRegression, {"squares": "feature", "eta": 1.0}),
    "hinge": (Hinge, naive.NaiveHinge, {}),
    "sgd": (StochasticGradientDescent, naive.NaiveSGD, {}),
    "arow": (Arow, naive.NaiveArow, {}),
}


@pytest.mark.parametrize(("kind", "twin", "parameters"), TWINS.values(), ids=TWINS.keys())
def test_priors_agree_with_the_twin(data, kind, twin, parameters) -> None:  # type: ignore[no-untyped-def]
    """Buckets of the stream's own texts, and one that no text has; labels of the stream, and one that is not there."""
    examples = real_examples(data / "trec-6.jsonl.gz", 400)
    random = np.random.default_rng(1)
    occurrences = {(7, "never seen"): 3.5}
    for example in examples[::9]:
        if example.x and example.label:
            occurrences[next(iter(example.x)), example.label] = float(random.integers(1, 30)) / 3
    check_against_twin(kind(**parameters), twin(**parameters), examples, bits=20, occurrences=occurrences)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_words_not_set_favour_no_label(kind: type[Learner]) -> None:
    """Naive Bayes too, though three words are set for one label and none for the other."""
    learner = kind().set_priors({"calm": {}, "urgent": {"outage": 1, "fire": 3, "data loss": 2}})
    (scores,) = learner.scores_many(["a data set"])
    assert scores[0] == scores[1]
    assert learner.predict_one("Data loss!") == "urgent"


def test_the_strength_and_the_weight_multiply() -> None:
    weak, strong = (NaiveBayes().set_priors({"a": {"x": 4}, "b": {"y": 1}}, strength) for strength in (2.5, 10))
    assert weak.counts[0, 0] == 10
    assert strong.counts[0, 0] == 40
    assert_array_equal(strong.totals[:2], [40, 40])


def test_words_of_one_feature_are_added() -> None:
    learner = Perceptron().set_priors({"a": {"Fire": 1, "fire": 2}}, strength=1)
    assert learner.weights[0, 0] == 3


def test_a_view_of_characters_shares_a_word() -> None:
    """`outage` is 5 n-grams of 4 characters; a word as short as `up` is one."""
    view = View(ViewConfig(tokens="char_wb", ngrams=(2, 4)))
    learner = Perceptron(features=view).set_priors({"calm": {}, "urgent": {"outage": 1, "up": 1}})
    assert_allclose(learner.scores_many(["outage", "up", "out"])[:, 1], [10, 10, 2], rtol=1e-6)


def test_mappings_have_the_feature_of_that_name() -> None:
    learner = PassiveAggressive().set_priors({"ham": {}, "spam": {"free prize": 1}})
    assert learner.predict_one({"free prize": 1.0}) == "spam"


def test_single_events_learn_as_many_do() -> None:
    texts, labels = ["an outage", "outage again", "all calm"], ["urgent", "calm", "other"]
    for kind in KINDS.values():
        one, many = kind().set_priors(OUTAGE), kind().set_priors(OUTAGE)
        found = []
        for text, label in zip(texts, labels, strict=True):
            found.append(one.predict_one(text))
            one.learn_one(text, label)
        assert many.learn_many(texts, labels) == found
        for name, table in many.state(many.n_rows, 3).items():
            assert_array_equal(table, one.state(one.n_rows, 3)[name])


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ({"a": {"!?": 1}}, r"priors.a: '!\?' has no token in view words \(tokens = 'words'\)"),
        ({"a": {"x y z": 1}}, "priors.a: 'x y z' has 3 tokens in view words, whose n-grams have 1 to 2"),
        ({"a": {"x": -1}}, "priors.a.x: input should be greater than 0, got -1"),
        ({"a": {"x": inf}}, "priors.a.x: input should be a finite number, got inf"),
        ({"a": {"x": True}}, "priors.a.x: input should be a valid number, got True"),
        ({"a": {3: 1}}, "priors: expected a word of 'a' to be a text, got 3"),
        ({7: {"x": 1}}, "priors: expected a label to be a text, got 7"),
        ({"a": ["x"]}, r"priors.a: expected a table of words, got \['x'\]"),
    ],
)
def test_bad_priors_are_refused_and_nothing_changes(priors, message) -> None:  # type: ignore[no-untyped-def]
    learner = NaiveBayes()
    with pytest.raises(ConfigError, match=f"^{message}"):
        learner.set_priors(priors)
    assert learner.labels.names == []
    assert learner.n_rows == 0


def test_priors_come_before_the_first_label() -> None:
    learner = Perceptron().learn_one("a text", "a")
    with pytest.raises(ConfigError, match=r"expected a learner that knows no label yet, got 1$"):
        learner.set_priors({"a": {"x": 1}})


def test_a_learner_without_such_a_start_says_so() -> None:
    class Own(Perceptron):
        prior_step = None

    with pytest.raises(ConfigError, match="Own can't start with words set by hand"):
        Own().set_priors({"a": {"x": 1}})
