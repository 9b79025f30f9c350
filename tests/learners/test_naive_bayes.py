"""Naive Bayes, by hand and beside its twin."""

from collections import Counter, defaultdict
from math import inf, log, nan, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.errors import ConfigError, RecordError
from streamlin.learners import NaiveBayes, softmax
from tests.learners.running import REAL_STREAMS, Run, check_against_twin
from tests.naive import NaiveNaiveBayes
from tests.streams import Example, real_examples, streams


def test_two_events_by_hand():
    """alpha = 1. {a, b} is x, {a, c} twice is y; so V = 3, n_x = 1, n_y = 2, N_x = 2, N_y = 4, n = 3, K = 2.

    Of {a}: P(x) = 2/5, theta_xa = (1 + 1) / (2 + 3) = 2/5, together 4/25
            P(y) = 3/5, theta_ya = (2 + 1) / (4 + 3) = 3/7, together 9/35
    P(x | a) = 4/25 / (4/25 + 9/35) = 28 / (28 + 45)
    """
    learner = NaiveBayes(alpha=1.0).learn_one({"a": 1, "b": 1}, "x").learn_one({"a": 1, "c": 1}, "y", 2.0)
    assert_allclose(learner.scores_many([{"a": 1}]), [[log(4 / 25), log(9 / 35)]], rtol=1e-6)
    assert_allclose(list(learner.predict_proba_one({"a": 1}).values()), [28 / 73, 45 / 73], rtol=1e-6)


def test_a_feature_never_seen_says_nothing():
    """No label's features hold it, so it takes part with no probability: the rest decides as if alone."""
    learner = NaiveBayes().learn_one({"a": 1}, "x").learn_one({"b": 2}, "y")
    assert learner.predict_proba_one({"a": 1, "unseen": 5}) == learner.predict_proba_one({"a": 1})


def test_before_any_feature_the_prior_decides():
    """Two texts without words are x, one is y: P(x) = 3/5, and a word is new to both."""
    learner = NaiveBayes()
    assert learner.learn_many(["", "", ""], ["x", "x", "y"]) == [None, "x", "x"]
    assert_allclose(list(learner.predict_proba_one("word").values()), [3 / 5, 2 / 5])


@pytest.mark.parametrize("alpha", [0.0, -0.5, nan, inf])
def test_refuses_an_alpha_that_is_not_positive(alpha):
    with pytest.raises(ConfigError, match=f"naive_bayes.alpha must be positive, got {alpha}"):
        NaiveBayes(alpha=alpha)


def test_refuses_a_negative_count_and_learns_nothing_of_it():
    learner = NaiveBayes().learn_one({"a": 1}, "x")
    with pytest.raises(RecordError, match=r"a value is -2\.0, it must be 0 or more"):
        learner.learn_one({"a": 1, "b": -2}, "y")
    assert learner.labels.names == ["x"]
    assert learner.n == 1


@given(streams(), st.sampled_from([0.3, 1.0]))
def test_the_probabilities_are_those_of_the_counts(stream, alpha):
    """prod_j theta_kj^x_j P(k), normalised, with counts kept in the plainest way."""
    run = Run(NaiveBayes(alpha))
    run.step([*stream, Example({0: 1.0}, "a")])
    events, counts = Counter(), defaultdict(Counter)
    for x, label, weight in [*stream, Example({0: 1.0}, "a")]:
        if label is not None and weight:
            events[label] += weight
            counts[label].update({j: weight * value for j, value in x.items()})
    features = {j for x, label, weight in [*stream, Example({0: 1.0}, "a")] if label is not None and weight for j in x}
    for x, _, _ in stream:
        joint = [
            (events[k] + 1)
            / (events.total() + len(events))
            * prod(
                ((counts[k][j] + alpha) / (counts[k].total() + alpha * len(features))) ** value
                for j, value in x.items()
                if j in features
            )
            for k in run.labels.names
        ]
        ours = softmax(run.step([Example(x, None)]))[0]
        assert_allclose(ours, np.array(joint) / sum(joint), rtol=2e-5)
        assert_allclose(ours.sum(), 1)


@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_a_real_stream_as_the_twin(data, name, n):
    check_against_twin(NaiveBayes(), NaiveNaiveBayes(), real_examples(data / name, n), bits=20)


@given(streams(), st.sampled_from([0.3, 1.0]))
def test_any_stream_as_the_twin(stream, alpha):
    check_against_twin(NaiveBayes(alpha), NaiveNaiveBayes(alpha), stream)
