"""The averaged perceptron, by hand and beside its twin."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.errors import ConfigError
from streamlin.learners import AveragedPerceptron
from tests.learners.running import POSITIVE, REAL_STREAMS, Run, check_against_twin
from tests.naive import NaiveAveragedPerceptron
from tests.sample_streams import Example, real_examples, streams


def test_three_events_by_hand():
    """Features a, b and the bias, in this order:

    (1, 2; 1) is x: no rival, nothing is learned, the clock stands at 0.
    (1, 0; 1) is y: x is the only candidate, so wrong:  W_y = (1, 0; 1),    W_x = -W_y.   t = 1
    (2, 1; 1) is x: x scores -3, y 3, so wrong:         W_y = (-1, -1; 0),  W_x = -W_y.   t = 2
    The mean of the two is (0, -0.5; 0.5) for y, so (1, 3; 1) has y -1.5 + 0.5 = -1, x 1.
    """
    learner = AveragedPerceptron()
    predicted = learner.learn_many([{"a": 1, "b": 2}, {"a": 1}, {"a": 2, "b": 1}], ["x", "y", "x"])
    assert predicted == [None, "x", "y"]
    assert learner.clock == 2
    assert_array_equal(learner.scores_many([{"a": 1, "b": 3}]), [[1, -1]])


def test_it_learns_from_mistakes_of_the_current_weights():
    """(; 1) is x, y, y, then x, then x: the bias of y goes 1, 1, 0 by the mistakes of events 2 and 4.

    Before event 5 the current biases tie at 0, which x, seen first, wins: it is right, and no update follows. The mean
    of y's bias is (1 + 1 + 0) / 3 = 2/3, so what is predicted is y, and after event 5 it is 2/4.
    """
    learner = AveragedPerceptron()
    assert learner.learn_many([{}] * 5, ["x", "y", "y", "x", "x"]) == [None, "x", "y", "y", "y"]
    assert learner.bias[:2].tolist() == [0, 0]
    assert_array_equal(learner.scores_many([{}]), [[-0.5, 0.5]])


@given(streams())
def test_scores_use_the_mean_of_weights_over_learned_events(stream):
    run, snapshots = Run(AveragedPerceptron()), []
    for x, label, weight in stream:
        rivals = [name for name in run.labels.names if name != label]
        run.step([Example(x, label, weight)])
        if label is not None and weight and rivals:
            snapshots.append(run.state()["weights"].copy())
    shape = len(run.rows), len(run.labels)
    mean = np.zeros(shape)
    for weights in snapshots:
        mean[: weights.shape[0], : weights.shape[1]] += weights / len(snapshots)
    assert run.learner.clock == len(snapshots)
    assert_allclose(run.learner.effective_weights(*shape), mean, rtol=1e-5, atol=1e-5)


def test_a_half_life_of_one_event_doubles_each_next_weight():
    """The bias of y after the four learned events is 1, 1, 0, 0, as above, with weights 1, 2, 4, 8."""
    learner = AveragedPerceptron(half_life=1)
    learner.learn_many([{}] * 5, ["x", "y", "y", "x", "x"])
    assert learner.clock == 15
    assert_allclose(learner.scores_many([{}]), [[-3 / 15, 3 / 15]], rtol=1e-12)


@pytest.mark.parametrize("half_life", [0.0, -1.0, nan, inf])
def test_a_half_life_must_be_positive_and_finite(half_life):
    with pytest.raises(ConfigError, match=f"averaged_perceptron.half_life {POSITIVE}, got {half_life}"):
        AveragedPerceptron(half_life=half_life)


def test_scaling_down_changes_no_score(data):
    """With a half-life of 5 events increments exceed 2^64 every 320 events; those of the twin grow to 2^200."""
    examples = real_examples(data / "sms-spam.jsonl.gz", 1000)
    run, twin = Run(AveragedPerceptron(half_life=5), 20), NaiveAveragedPerceptron(half_life=5)
    for example in examples:
        ours, theirs = run.step([example])[0], twin.step(*example)
        assert_allclose(ours[: len(theirs)], list(theirs.values()), rtol=1e-9, atol=1e-9)
    assert run.learner.clock < 2.0**70 < twin.clock


@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_real_streams_give_the_scores_of_the_twin(data, name, n):
    check_against_twin(AveragedPerceptron(), NaiveAveragedPerceptron(), real_examples(data / name, n), bits=20)


@given(streams(), st.sampled_from([None, 1.0, 30.0]))
def test_any_stream_gives_the_scores_of_the_twin(stream, half_life):
    check_against_twin(AveragedPerceptron(half_life), NaiveAveragedPerceptron(half_life), stream)
