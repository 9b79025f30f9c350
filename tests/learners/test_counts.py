"""Counters must not stop growing where float32 would: it cannot represent 2^24 + 1."""

import numpy as np

from streamlin.evaluation.tally import Tally
from streamlin.learners import AveragedPerceptron, LogisticRegression, NaiveBayes

LAST = 2**24
"""The count from which adding 1 to a float32 does not change it."""


def test_a_float32_counter_would_stop_growing():
    assert np.float32(LAST) + np.float32(1) == LAST


def test_naive_bayes_counts_beyond_float32():
    learner = NaiveBayes().learn_one({"a": 1, "b": 2}, "x", LAST)
    for _ in range(3):
        learner.learn_one({"a": 1}, "x")
    assert learner.counts[:2, 0].tolist() == [LAST + 3, 2 * LAST]
    assert learner.totals[0] == 3 * LAST + 3
    assert (learner.events[0], learner.n) == (LAST + 3, LAST + 3)


def test_the_averaged_perceptron_counts_beyond_float32():
    """A mistake at time 2^24 + 1 adds (2^24 + 1) x to the sums; the mean after it is x / (2^24 + 2) for y."""
    learner = AveragedPerceptron().learn_one({"a": 1}, "x")
    learner.grow(1, 2)
    learner.clock[...] = LAST + 1
    learner.learn_one({"a": 1}, "y")
    assert learner.sums[0, :2].tolist() == [-LAST - 1, LAST + 1]
    assert learner.bias_sums[:2].tolist() == [-LAST - 1, LAST + 1]
    assert learner.clock == LAST + 2
    assert learner.effective_weights(1, 2)[0, 1] == 1 - (LAST + 1) / (LAST + 2)


def test_adagrad_sums_squares_beyond_float32():
    """With equal probabilities of x and y and weight 2, errors are 1, and so are the squares added for the bias."""
    learner = LogisticRegression().learn_one("", "x").learn_one("", "y", 0.0)
    learner.grow(0, 2)
    learner.bias_squares[:2] = LAST
    learner.learn_one("", "y", 2.0)
    assert learner.bias_squares[:2].tolist() == [LAST + 1, LAST + 1]


def test_accuracy_counts_beyond_float32():
    accuracy = Tally(1)
    accuracy.update(np.zeros((1, 3), np.int32), np.array([0, 1, 0], np.int32), np.array([LAST, 1.0, 1.0]), 1)
    assert accuracy.hit_weights.tolist() == [LAST + 1]
    assert accuracy.totals[0] == LAST + 2
