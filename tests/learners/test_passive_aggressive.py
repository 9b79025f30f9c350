"""Passive-aggressive learning, by hand and beside its twin."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.errors import ConfigError
from streamlin.learners import PassiveAggressive
from tests.learners.running import REAL_STREAMS, Run, check_against_twin
from tests.naive import NaivePassiveAggressive
from tests.sample_streams import Example, real_examples, streams


def test_three_events_by_hand():
    """C = 1; features a, b and the bias, in this order:

    (1, 0; 1) is x: no rival, nothing is learned.
    (1, 2; 1) is y: y, new, counts as 0, x scores 0: loss 1, tau = 1 / (2*6) = 1/12
                    W_y = (1/12, 2/12; 1/12), W_x = -W_y
    (2, 0; 1) is x: x -3/12, y 3/12: loss 1.5, tau = 1.5 / (2*5) = 0.15
                    W_x = (0.3 - 1/12, -2/12; 0.15 - 1/12), W_y = -W_x
    (1, 0; 1) has x 0.45 - 2/12, y the opposite.
    """
    learner = PassiveAggressive(C=1.0)
    predicted = learner.learn_many([{"a": 1}, {"a": 1, "b": 2}, {"a": 2}], ["x", "y", "x"])
    assert predicted == [None, "x", "y"]
    score = 0.45 - 2 / 12
    assert_allclose(learner.scores_many([{"a": 1}]), [[score, -score]], rtol=1e-6)


def test_a_step_is_at_most_c_times_the_weight():
    """Loss 1 and ||x||^2 = 2 give a step of 1/4; C = 0.1 bounds it by 0.1, and the weight 3 makes it 0.3."""
    learner = PassiveAggressive(C=0.1).learn_one({"a": 1}, "x").learn_one({"a": 1}, "y", 3.0)
    assert_allclose(learner.scores_many([{}]), [[-0.3, 0.3]], rtol=1e-6)


def test_new_features_count_in_the_events_length():
    """||x||^2 = 1 + 1 + 1: both features are new with this event, tau = 1 / 6."""
    learner = PassiveAggressive(C=inf).learn_one({}, "x").learn_one({"a": 1, "b": 1}, "y")
    assert_allclose(learner.scores_many([{}]), [[-1 / 6, 1 / 6]], rtol=1e-6)


@pytest.mark.parametrize("C", [0.0, -1.0, nan])
def test_c_must_be_positive(C):
    with pytest.raises(ConfigError, match=f"passive_aggressive.C must be greater than 0, got {C}"):
        PassiveAggressive(C=C)


def rival_of(scores, y):
    """The best scored label other than y."""
    return max((k for k in range(scores.size) if k != y), key=lambda k: scores[k])


@given(streams(labelled=True), streams(labelled=True).filter(bool))
def test_an_unclipped_step_of_weight_one_reaches_margin_one(stream, others):
    """With C = inf the example just learned has no loss against its rival any more."""
    run = Run(PassiveAggressive(C=inf))
    run.step([Example({}, "a"), Example({}, "b"), *stream])
    x, label, _ = others[0]
    before = run.step([Example(x, None)])[0]
    run.step([Example(x, label)])
    after = run.step([Example(x, None)])[0]
    y = run.labels.code(label)
    rival = rival_of(before, y)
    was = (before[y] if y < before.size else 0.0) - before[rival]
    assert_allclose(after[y] - after[rival], max(was, 1.0), rtol=1e-4, atol=1e-4)


@given(streams(), st.sampled_from([0.05, 0.5]))
def test_steps_are_bounded_and_none_follows_without_loss(stream, C):
    run = Run(PassiveAggressive(C))
    for x, label, weight in stream:
        before = run.learner.bias.copy()
        scores = run.step([Example(x, label, weight)])[0]
        step = np.abs(run.learner.bias[: before.size] - before).max(initial=0)
        assert step <= weight * C * (1 + 1e-5) + 1e-6
        y = run.labels.code(label)
        met = scores.size > 1 and scores[y] - scores[rival_of(scores, y)] >= 1
        if label is None or weight == 0 or met:
            assert step == 0


def test_it_is_passive_once_the_margin_is_met():
    """After one step with C = inf the margin is 1 (in binary fractions, exactly): the same event changes nothing."""
    learner = PassiveAggressive(C=inf).learn_one({}, "x").learn_one({"a": 1}, "y")
    bias, weights = learner.bias.copy(), learner.weights.copy()
    learner.learn_one({"a": 1}, "y")
    assert_array_equal(learner.bias, bias)
    assert_array_equal(learner.weights, weights)


@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_real_streams_give_the_scores_of_the_twin(data, name, n):
    check_against_twin(PassiveAggressive(), NaivePassiveAggressive(), real_examples(data / name, n), bits=20)


@given(streams(), st.sampled_from([0.1, 1.0, inf]), st.sampled_from([1, 2]))
def test_any_stream_gives_the_scores_of_the_twin(stream, C, variant):
    check_against_twin(PassiveAggressive(C, variant), NaivePassiveAggressive(C, variant), stream)


def test_variant_2_shrinks_the_step():
    """C = 0.25: tau = loss / (2 ||x||^2 + 1 / (2 C)) = 1 / (2*2 + 2) = 1/6."""
    learner = PassiveAggressive(C=0.25, variant=2).learn_one({"a": 1}, "x").learn_one({"a": 1}, "y")
    assert_allclose(learner.scores_many([{}]), [[-1 / 6, 1 / 6]], rtol=1e-6)


def test_an_unknown_variant_is_refused():
    with pytest.raises(ConfigError, match=r"passive_aggressive\.variant must be 1 or 2, got 3"):
        PassiveAggressive(variant=3)
