"""Logistic regression, by hand and beside its twin."""

from math import exp, inf, log, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.errors import ConfigError
from streamlin.learners import LogisticRegression
from tests.learners.running import POSITIVE, REAL_STREAMS, Run, check_against_twin
from tests.naive import NaiveLogisticRegression
from tests.sample_streams import Example, real_examples, streams


def test_three_events_by_hand():
    """eta = 0.5, a tiny epsilon; features a, b and the bias, in this order:

    (1, 0; 1) is x: no rival, nothing is learned.
    (3, 4; 1) is y, of length 1 (0.6, 0.8; 1): x and the new y score 0, p = 1/2 each, errors x 1/2, y -1/2.
        The first step of Adagrad is eta times the gradient's sign: W_x = (-0.5, -0.5; -0.5), W_y = -W_x.
        Of the squares a has (0.5 * 0.6)^2 = 0.09, the bias 0.25.
    (7, 0; 1) is x, of length 1 (1, 0; 1): x scores -1, y 1, so y's p = 1 / (1 + e^-2); errors x -p, y p.
        W_xa += 0.5 p / sqrt(0.09 + p^2),  b_x += 0.5 p / sqrt(0.25 + p^2), y the opposite; b is as it was.
    (2, 0; 1) is again (1, 0; 1): x scores W_xa + b_x.
    """
    learner = LogisticRegression(eta=0.5, epsilon=1e-20)
    predicted = learner.learn_many([{"a": 1}, {"a": 3, "b": 4}, {"a": 7}], ["x", "y", "x"])
    assert predicted == [None, "x", "y"]
    p = 1 / (1 + exp(-2))
    score = -1 + 0.5 * p / sqrt(0.09 + p * p) + 0.5 * p / sqrt(0.25 + p * p)
    assert_allclose(learner.scores_many([{"a": 2}]), [[score, -score]], rtol=1e-6)


def test_values_are_unchanged_without_normalize():
    """The first step is eta whatever the value: W_ya = b_y = 0.1; the value 4 scores 0.1 * 4 + 0.1."""
    learner = LogisticRegression(eta=0.1, epsilon=1e-20, normalize=False).learn_one({"a": 3}, "x")
    learner.learn_one({"a": 3}, "y")
    assert_allclose(learner.scores_many([{"a": 4}]), [[-0.5, 0.5]], rtol=1e-6)


def test_the_weight_multiplies_the_gradient():
    """Errors 1/2 times the weight 4: the squares of the bias are 4 for both labels."""
    learner = LogisticRegression().learn_one("", "x").learn_one("", "y", 4.0)
    assert learner.bias_squares[:2].tolist() == [4, 4]


def test_squares_by_feature_three_events_by_hand():
    """eta = 1, a tiny epsilon; features a, b and the bias, in this order:

    (1, 0; 1) is x: no rival, nothing is learned.
    (3, 4; 1) is y, of length 1 (0.6, 0.8; 1): errors x 1/2, y -1/2, their squares sum up to 1/2.
        A step is x / sqrt(x^2 / 2) = sqrt(2) times the error: W_x = -(1, 1; 1) / sqrt(2), W_y = -W_x. a has 0.36 / 2.
    (7, 0; 1) is x, of length 1 (1, 0; 1): x scores -sqrt(2), y sqrt(2), so y's p = 1 / (1 + e^-2sqrt(2)); errors x -p,
        y p: a has 0.18 + 2 p^2, the bias 1/2 + 2 p^2. W_xa += p / sqrt(0.18 + 2 p^2), b_x += p / sqrt(1/2 + 2 p^2).
    """
    learner = LogisticRegression(eta=1.0, epsilon=1e-20, squares="feature")
    assert learner.learn_many([{"a": 1}, {"a": 3, "b": 4}, {"a": 7}], ["x", "y", "x"]) == [None, "x", "y"]
    p = 1 / (1 + exp(-2 * sqrt(2)))
    score = -sqrt(2) + p / sqrt(0.18 + 2 * p * p) + p / sqrt(0.5 + 2 * p * p)
    assert_allclose(learner.scores_many([{"a": 2}]), [[score, -score]], rtol=1e-6)
    assert_allclose(learner.gradient_squares[:2, 0], [0.18 + 2 * p * p, 0.32], rtol=1e-6)
    assert_allclose(learner.bias_squares[:2], [0.5 + 2 * p * p, 0], rtol=1e-6)


@given(streams(), st.sampled_from([0.3, 1.0]))
def test_squares_by_feature_keep_each_features_weights_summing_to_zero(stream, eta):
    """The errors sum to zero, and all labels of a feature share a step."""
    run = Run(LogisticRegression(eta, squares="feature"))
    run.step(stream)
    assert_allclose(run.state()["weights"].sum(axis=1, dtype=np.float64), 0, atol=1e-4)
    assert_allclose(run.state()["bias"].sum(dtype=np.float64), 0, atol=1e-4)


@given(streams(), st.sampled_from([0.3, 1.0]))
def test_two_labels_by_feature_equal_by_weight_with_scaled_eta(stream, eta):
    """The errors are e and -e, so their sum of squares is twice each square."""
    two = [Example(x, label and min(label, "b"), weight) for x, label, weight in stream]
    by_feature = Run(LogisticRegression(eta * sqrt(2), 2e-10, squares="feature"))
    by_weight = Run(LogisticRegression(eta, 1e-10))
    assert_allclose(by_feature.step(two), by_weight.step(two), rtol=1e-3, atol=1e-3)


def test_squares_by_feature_have_one_column():
    learner = LogisticRegression(squares="feature").learn_one("a b", "x").learn_one("c", "y").learn_one("d", "z")
    assert learner.state(learner.n_rows, 3)["gradient_squares"].shape == (learner.n_rows, 1)


def test_unknown_squares_are_refused():
    with pytest.raises(ConfigError, match=r"logistic_regression\.squares must be 'weight' or 'feature', got 'label'"):
        LogisticRegression(squares="label")


@pytest.mark.parametrize("value", [0.0, -1.0, nan, inf])
@pytest.mark.parametrize("key", ["eta", "epsilon"])
def test_eta_and_epsilon_must_be_positive_and_finite(key, value):
    with pytest.raises(ConfigError, match=f"logistic_regression.{key} {POSITIVE}, got {value}"):
        LogisticRegression(**{key: value})


def log_loss(bias, weights, x, y):
    """-log p_y, p the softmax of W_k.x + b_k."""
    scores = bias + x @ weights
    return log(np.exp(scores - scores[y]).sum())


@given(
    st.lists(st.floats(-2, 2, width=32).filter(lambda v: abs(v) > 0.05), max_size=3),
    st.integers(0, 2),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_the_gradient_is_the_derivative_of_the_log_loss(values, y, weight, normalize, random):
    """From squares of 0 a step leaves g^2 in them and moves against the sign of g: that gives g.

    Compared with the central difference of w log_loss by each weight and bias.
    """
    run = Run(LogisticRegression(normalize=normalize))
    run.step([Example(dict.fromkeys(range(len(values)), 1.0), label) for label in "abc"])
    for name in run.learner.tables:
        getattr(run.learner, name)[...] = 0
    for index in np.ndindex(len(values), 3):
        run.learner.weights[index] = random.uniform(-1, 1)
    run.learner.bias[:3] = [random.uniform(-1, 1) for _ in range(3)]
    before = {name: table.astype(np.float64) for name, table in run.state().items()}
    run.step([Example(dict(enumerate(values)), "abc"[y], weight)])
    after = run.state()

    x, h = np.array(values), 1e-5
    if normalize and values:
        x = x / np.linalg.norm(x)
    for table in ("weights", "bias"):
        squares = after["gradient_squares" if table == "weights" else "bias_squares"]
        for index in np.ndindex(before[table].shape):
            losses = []
            for shift in (h, -h):
                moved = {name: before[name].copy() for name in ("bias", "weights")}
                moved[table][index] += shift
                losses.append(weight * log_loss(**moved, x=x, y=y))
            derivative = (losses[0] - losses[1]) / (2 * h)
            gradient = sqrt(squares[index]) * np.sign(before[table][index] - after[table][index])
            assert_allclose(gradient, derivative, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("parameters", [{}, {"eta": 1.0, "squares": "feature"}], ids=["weight", "feature"])
@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_real_streams_give_the_scores_of_the_twin(data, name, n, parameters):
    examples = real_examples(data / name, n)
    check_against_twin(LogisticRegression(**parameters), NaiveLogisticRegression(**parameters), examples, bits=20)


@given(
    streams(),
    st.fixed_dictionaries(
        {
            "normalize": st.booleans(),
            "epsilon": st.sampled_from([1e-10, 1e-2]),
            "squares": st.sampled_from(["weight", "feature"]),
            "damping": st.sampled_from([None, 0.1]),
            "least_error": st.sampled_from([None, 0.3]),
        }
    ),
)
def test_any_stream_gives_the_scores_of_the_twin(stream, parameters):
    parameters = {"eta": 0.3} | parameters
    check_against_twin(LogisticRegression(**parameters), NaiveLogisticRegression(**parameters), stream)


def test_damping_makes_a_first_step_small_where_the_error_is():
    """Both errors are 1/2: with damping 1/2 the step of x is (1/2) / sqrt(1/2 + 1/2), instead of (1/2) / sqrt(1/2)."""
    parameters = {"eta": 1.0, "squares": "feature", "damping": 0.5, "epsilon": 1e-30}
    learner = LogisticRegression(**parameters).learn_one({"x": 1}, "a").learn_one({"x": 1}, "b")
    assert learner.weights[0, :2].tolist() == [-0.5, 0.5]


def test_nothing_is_learned_below_the_least_error():
    """Two errors of 1/2 have squares of 1/2 in all; once "b" is learned, its errors are smaller."""
    learner = LogisticRegression(least_error=0.4).learn_one("x", "a").learn_one("x", "b")
    weights = learner.weights.copy()
    assert weights.any()
    assert_array_equal(learner.learn_one("x", "b", 3.0).weights, weights)
