"""The hinge loss with Adagrad, by hand and beside its twin."""

from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.errors import ConfigError
from streamlin.learners import Hinge
from tests.learners.running import POSITIVE, REAL_STREAMS, check_against_twin
from tests.naive import NaiveHinge
from tests.sample_streams import real_examples, streams


def test_three_events_by_hand():
    """eta = 0.5, a tiny epsilon; feature a and the bias:

    (1; 1) is x: no rival, nothing is learned.
    (2; 1) is y, of length 1 (1; 1): both score 0, loss 1, gradients 1: W_x = (-0.5; -0.5), W_y = -W_x, squares 1.
    (3; 1) is x, of length 1 (1; 1): x -1, y 1, loss 3: squares 2, steps 0.5 / sqrt(2).
    """
    learner = Hinge(eta=0.5, epsilon=1e-20)
    assert learner.learn_many([{"a": 1}, {"a": 2}, {"a": 3}], ["x", "y", "x"]) == [None, "x", "y"]
    score = 2 * (-0.5 + 0.5 / sqrt(2))
    assert_allclose(learner.scores_many([{"a": 1}]), [[score, -score]], rtol=1e-6)


def test_an_event_without_loss_teaches_nothing():
    """After one step of eta 1 the margin of (1; 1) is 4."""
    learner = Hinge(eta=1.0).learn_one({}, "x").learn_one({"a": 1}, "y")
    weights, bias = learner.weights.copy(), learner.bias.copy()
    learner.learn_one({"a": 1}, "y")
    assert_array_equal(learner.weights, weights)
    assert_array_equal(learner.bias, bias)


@pytest.mark.parametrize("value", [0.0, -1.0, nan, inf])
@pytest.mark.parametrize("key", ["eta", "epsilon"])
def test_eta_and_epsilon_must_be_positive_and_finite(key, value):
    with pytest.raises(ConfigError, match=f"hinge.{key} {POSITIVE}, got {value}"):
        Hinge(**{key: value})


@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_real_streams_give_the_scores_of_the_twin(data, name, n):
    check_against_twin(Hinge(), NaiveHinge(), real_examples(data / name, n), bits=20)


@given(streams(), st.booleans())
def test_any_stream_gives_the_scores_of_the_twin(stream, normalize):
    parameters = {"eta": 0.3, "normalize": normalize}
    check_against_twin(Hinge(**parameters), NaiveHinge(**parameters), stream)
