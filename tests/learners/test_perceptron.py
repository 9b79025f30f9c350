"""The perceptron, by hand and beside its twin."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from streamlin.learners import Perceptron
from tests.learners.running import REAL_STREAMS, Run, check_against_twin
from tests.naive import NaivePerceptron
from tests.sample_streams import Example, real_examples, streams


def test_three_events_by_hand():
    """Features a, b and the bias, in this order:

    (1, 2; 1) is x: the first label, no rival, nothing is learned.
    (1, 0; 1) is y: x is the only candidate, so wrong:      W_y = (1, 0; 1),   W_x = (-1, 0; -1)
    (2, 1; 1) is x: scores x -3, y 3, so wrong:             W_x = (1, 1; 0),   W_y = (-1, -1; 0)
    (1, 3; 1) has  x 1 + 3 = 4,  y -4.
    """
    learner = Perceptron()
    predicted = learner.learn_many([{"a": 1, "b": 2}, {"a": 1}, {"a": 2, "b": 1}], ["x", "y", "x"])
    assert predicted == [None, "x", "y"]
    assert_array_equal(learner.scores_many([{"a": 1, "b": 3}]), [[4, -4]])


def test_the_weight_multiplies_the_step():
    """Weight 0.5: W_y = (0.5; 0.5), W_x = -W_y; the value 3 scores y 0.5 * 3 + 0.5 = 2."""
    learner = Perceptron().learn_one({"a": 1}, "x").learn_one({"a": 1}, "y", 0.5)
    assert_array_equal(learner.scores_many([{"a": 3}]), [[-2, 2]])


def test_a_new_label_is_learned_as_a_mistake():
    """W_x = (-1; -1) scores -2, below the 0 of the new label z; the prediction was still y, a mistake."""
    learner = Perceptron().learn_one({"a": 1}, "x").learn_one({"a": 1}, "y").learn_one({"a": -3}, "z")
    assert_array_equal(learner.scores_many([{}]), [[-2, 1, 1]])


@given(streams())
def test_a_mistake_changes_only_two_labels_by_x(stream):
    run = Run(Perceptron())
    for x, label, weight in stream:
        known, before = run.labels.names.copy(), {name: table.copy() for name, table in run.state().items()}
        scores = run.step([Example(x, label, weight)])[0]
        guess = known[int(scores[: len(known)].argmax())] if known else None
        moved = {}
        if label is not None and weight and guess not in (None, label):
            moved = {label: weight, guess: -weight}
        after = run.state()
        for k in run.labels.names:
            code = run.labels.code(k)
            bias = before["bias"][code] if code < before["bias"].size else 0
            assert after["bias"][code] == np.float32(bias + moved.get(k, 0))
            weights = np.zeros(len(run.rows), np.float32)
            if code < before["weights"].shape[1]:
                weights[: len(before["weights"])] = before["weights"][:, code]
            dense = np.array([x.get(bucket, 0) for bucket in run.rows.buckets.tolist()])
            assert_array_equal(after["weights"][:, code], (weights + moved.get(k, 0) * dense).astype(np.float32))


@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_real_streams_give_the_scores_of_the_twin(data, name, n):
    check_against_twin(Perceptron(), NaivePerceptron(), real_examples(data / name, n), bits=20)


@given(streams())
def test_any_stream_gives_the_scores_of_the_twin(stream):
    check_against_twin(Perceptron(), NaivePerceptron(), stream)
