"""The averaged perceptron, by hand and beside its twin."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.learners import AveragedPerceptron
from tests.learners.running import REAL_STREAMS, Run, check_against_twin
from tests.naive import NaiveAveragedPerceptron
from tests.streams import Example, real_examples, streams


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


def test_mistakes_are_judged_by_the_current_weights():
    """(; 1) is x, y, y, then x, then x: the bias of y goes 1, 1, 0 by the mistakes of events 2 and 4.

    Before event 5 the current biases tie at 0, which x, seen first, wins: it is right, and no update follows. The mean
    of y's bias is (1 + 1 + 0) / 3 = 2/3, so what is predicted is y, and after event 5 it is 2/4.
    """
    learner = AveragedPerceptron()
    assert learner.learn_many([{}] * 5, ["x", "y", "y", "x", "x"]) == [None, "x", "y", "y", "y"]
    assert learner.bias[:2].tolist() == [0, 0]
    assert_array_equal(learner.scores_many([{}]), [[-0.5, 0.5]])


@given(streams())
def test_predicts_by_the_mean_of_the_weights_over_all_learned_events(stream):
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


@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_a_real_stream_as_the_twin(data, name, n):
    check_against_twin(AveragedPerceptron(), NaiveAveragedPerceptron(), real_examples(data / name, n), bits=20)


@given(streams())
def test_any_stream_as_the_twin(stream):
    check_against_twin(AveragedPerceptron(), NaiveAveragedPerceptron(), stream)
