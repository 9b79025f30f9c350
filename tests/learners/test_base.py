"""What all learners share."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.events import LabelIndex
from streamlin.learners import Perceptron, best, learn_labels, no_targets, softmax, targets


def test_labels_are_candidates_only_after_their_first_event():
    """Codes 0 and 1 are known; events 1 and 3 bring 2 and 3, event 2 has no label, event 4 an old one."""
    batch = targets(np.array([0, 2, -1, 3, 1], np.int32), np.ones(5), 2)
    assert batch.known.tolist() == [2, 2, 3, 3, 4]
    assert batch.codes.tolist() == [0, 2, -1, 3, 1]


def test_weight_0_gives_no_target_and_no_new_label():
    index = LabelIndex(["a"])
    batch = learn_labels(index, ["a", "b", "a", "c", None], np.array([0.0, 0.0, 0.5, 1.0, 1.0]))
    assert (batch.codes.tolist(), batch.known.tolist()) == ([-1, -1, 0, 1, -1], [1, 1, 1, 1, 2])
    assert index.names == ["a", "c"]


def test_without_targets_all_labels_are_candidates():
    batch = no_targets(2, 3)
    assert (batch.codes.tolist(), batch.known.tolist()) == ([-1, -1], [3, 3])


def test_the_best_score_wins_and_ties_go_to_the_first():
    scores = [[1.0, 3.0, 3.0], [-5.0, -7.0, -np.inf], [-np.inf] * 3]
    assert best(np.array(scores)).tolist() == [1, 0, -1]
    assert best(np.empty((2, 0))).tolist() == [-1, -1]


def test_softmax_of_large_scores():
    """e^0 : e^(-log 3) = 3 : 1, however large the scores are."""
    assert_allclose(softmax(np.array([[1e4, 1e4 - np.log(3)]])), [[0.75, 0.25]])


def test_tables_grow_and_keep_what_they_hold():
    learner = Perceptron()
    learner.grow(3, 2)
    learner.weights[...] = np.arange(learner.weights.size).reshape(learner.weights.shape)
    held = learner.weights[:3, :2].copy()
    for n_rows, n_labels in ((4, 2), (4, 9), (1000, 9), (1001, 10)):
        learner.grow(n_rows, n_labels)
        assert learner.weights.shape >= (n_rows, n_labels)
        assert learner.bias.size >= n_labels
        assert_array_equal(learner.weights[:3, :2], held)
        assert not learner.weights[3:].any()
        assert not learner.weights[:, 2:].any()


def test_codes_of_single_labels_equal_those_in_bulk():
    index = LabelIndex(["a"])
    assert [index.learn_one(label) for label in ("a", None, "c", "b", "c")] == [0, -1, 1, 2, 1]
    assert index.names == ["a", "c", "b"]


def test_restored_tables_grow_from_their_own_size():
    """They replace larger tables."""
    learner = Perceptron()
    learner.grow(1000, 9)
    learner.restore({"weights": np.ones((3, 2), np.float32), "bias": np.ones(2, np.float32)})
    learner.grow(4, 3)
    assert learner.weights.shape >= (4, 3)
    assert learner.bias.size >= 3
    assert_array_equal(learner.weights[:3, :2], 1)
    assert not learner.weights[3:].any()


def test_rows_double_and_a_large_enough_table_is_kept():
    learner = Perceptron()
    learner.grow(1000, 2)
    table = learner.weights
    learner.grow(1000, 2)
    assert learner.weights is table
    learner.grow(1001, 2)
    assert learner.weights.shape == (2000, 2)
