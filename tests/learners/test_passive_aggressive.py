"""Passive-aggressive learning, by hand and beside its twin."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.errors import ConfigError
from streamlin.learners import PassiveAggressive
from tests.learners.running import POSITIVE, REAL_STREAMS, Run, check_against_twin
from tests.naive import NaiveAveragedPassiveAggressive, NaivePassiveAggressive
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


def mira(**others):
    """Without slack, and averaged."""
    return PassiveAggressive(C=inf, averaged=True, **others)


def test_averaged_steps_without_slack_by_hand():
    """Features a and the bias:

    (1; 1) is x: no rival, nothing is learned, the clock stands at 0.
    (1; 1) is y: loss 1, tau = 1 / (2*2) = 1/4:         W_y = (1/4; 1/4),           W_x = -W_y.   t = 1
    (2; 1) is x: x -3/4, y 3/4: loss 2.5, tau = 2.5 / (2*5) = 1/4, uncapped:
                                                        W_y = (-1/4; 0),            W_x = -W_y.   t = 2
    (0; 1) is y: both score 0: loss 1, tau = 1/2:       W_y = (-1/4; 1/2),          W_x = -W_y.   t = 3
    The mean of the three is (-1/12; 1/4) for y, so (3; 1) has y 0, x 0, and (6; 1) y -1/4.
    """
    learner = mira()
    predicted = learner.learn_many([{"a": 1}, {"a": 1}, {"a": 2}, {}], ["x", "y", "x", "y"])
    assert predicted == [None, "x", "y", "y"], "the fourth by the mean bias of y after two events, 1/8"
    assert learner.clock == 3
    assert_allclose(learner.scores_many([{"a": 3}, {"a": 6}]), [[0, 0], [0.25, -0.25]], atol=1e-7)


def test_events_without_loss_count_in_the_mean():
    """The bias of y is 1/2 after the second event; the third has margin 1 and changes nothing: the mean stays."""
    learner = mira().learn_one({}, "x").learn_one({}, "y").learn_one({}, "y")
    assert learner.clock == 2
    assert_array_equal(learner.scores_many([{}]), [[-0.5, 0.5]])
    learner.learn_one({}, "x")
    assert_allclose(learner.scores_many([{}]), [[-1 / 6, 1 / 6]], rtol=1e-6)


def test_a_half_life_of_one_event_doubles_each_next_weight():
    """The bias of y is 1/2, 1/2, -1/2 after the learned events, with weights 1, 2, 4."""
    learner = mira(half_life=1).learn_one({}, "x").learn_one({}, "y").learn_one({}, "y").learn_one({}, "x")
    assert learner.clock == 7
    assert_allclose(learner.scores_many([{}]), [[0.5 / 7, -0.5 / 7]], rtol=1e-6)


def test_averaging_does_not_change_what_is_learned(data):
    """The current weights are those of the learner without a mean, bit for bit."""
    examples = real_examples(data / "trec-6.jsonl.gz", 800)
    averaged, last = Run(mira(), 20), Run(PassiveAggressive(C=inf), 20)
    assert not np.array_equal(averaged.step(examples), last.step(examples))
    for name, table in last.state().items():
        assert_array_equal(averaged.state()[name], table, err_msg=name)
    assert list(last.state()) == ["weights", "bias"], "only a mean has tables of its own"


@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_the_mean_on_real_streams_gives_the_twins_scores(data, name, n):
    check_against_twin(mira(), NaiveAveragedPassiveAggressive(inf), real_examples(data / name, n), bits=20)


@given(streams(), st.sampled_from([0.1, inf]), st.sampled_from([1, 2]), st.sampled_from([None, 1.0, 30.0]))
def test_the_mean_on_any_stream_gives_the_twins_scores(stream, C, variant, half_life):
    learner = PassiveAggressive(C, variant, averaged=True, half_life=half_life)
    check_against_twin(learner, NaiveAveragedPassiveAggressive(C, variant, half_life), stream)


def test_scaling_the_mean_down_changes_no_score(data):
    """With a half-life of 5 events increments exceed 2^64 every 320 events; those of the twin grow to 2^200."""
    run, twin = Run(mira(half_life=5), 20), NaiveAveragedPassiveAggressive(inf, half_life=5)
    for example in real_examples(data / "sms-spam.jsonl.gz", 1000):
        ours, theirs = run.step([example])[0], twin.step(*example)
        assert_allclose(ours[: len(theirs)], list(theirs.values()), rtol=1e-9, atol=1e-9)
    assert run.learner.clock < 2.0**70 < twin.clock


def test_batch_sizes_change_no_mean(data):
    examples = real_examples(data / "trec-6.jsonl.gz", 400)
    whole, parts = Run(mira(half_life=50), 20), Run(mira(half_life=50), 20)
    scores = whole.step(examples)
    for begin in range(0, 400, 7):
        part = parts.step(examples[begin : begin + 7])
        assert_array_equal(part, scores[begin : begin + 7, : part.shape[1]])
    for name, table in whole.state().items():
        assert_array_equal(table, parts.state()[name], err_msg=name)


def test_the_mean_explains_scores_as_sums(data):
    """score(x) - score(nothing) = sum_j x_j W_j for the mean W."""
    run = Run(mira(), 20)
    examples = real_examples(data / "trec-6.jsonl.gz", 300)
    run.step(examples)
    weights = run.learner.effective_weights(len(run.rows), len(run.labels))
    rows = {bucket: row for row, bucket in enumerate(run.rows.buckets.tolist())}
    scores, nothing = run.step([Example(x, None) for x, _, _ in examples]), run.step([Example({}, None)])[0]
    for (x, _, _), row_scores in zip(examples, scores, strict=True):
        added = sum((value * weights[rows[j]] for j, value in x.items() if j in rows), np.zeros(len(run.labels)))
        assert_allclose(row_scores - nothing, added, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("half_life", [0.0, -1.0, nan, inf])
def test_a_half_life_must_be_positive_and_finite(half_life):
    with pytest.raises(ConfigError, match=f"passive_aggressive.half_life {POSITIVE}, got {half_life}"):
        mira(half_life=half_life)


def test_a_half_life_without_a_mean_is_refused():
    line = r"passive_aggressive\.half_life is of the mean: it needs averaged = true, got 30\.0"
    with pytest.raises(ConfigError, match=line):
        PassiveAggressive(half_life=30)
