"""Plain stochastic gradient descent, by hand and beside its twin."""

from math import exp, sqrt
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.errors import ConfigError
from streamlin.learners import Perceptron, StochasticGradientDescent
from streamlin.learners.sgd import Loss, Rate
from tests.learners.running import REAL_STREAMS, Run, check_against_twin
from tests.naive import NaiveSGD
from tests.sample_streams import real_examples, streams

LOSSES, RATES = get_args(Loss), get_args(Rate)


def test_two_steps_of_the_log_loss_by_hand():
    """eta = 1, constant; feature a of length 1 and the bias:

    the new y meets x: p = 1/2 each; W_x = (-1/2; -1/2), W_y = -W_x.
    x again: x scores -1, y 1, y's p = 1 / (1 + e^-2): W_x += p each.
    """
    learner = (
        StochasticGradientDescent(eta=1.0).learn_one({"a": 1}, "x").learn_one({"a": 1}, "y").learn_one({"a": 1}, "x")
    )
    score = 2 * (-0.5 + 1 / (1 + exp(-2)))
    assert_allclose(learner.scores_many([{"a": 1}]), [[score, -score]], rtol=1e-6)


@pytest.mark.parametrize(
    ("rate", "l2", "steps"),
    [
        ("constant", 0, [0.5, 0.5]),
        ("inverse", 0, [0.5, 0.25]),
        ("inverse_sqrt", 0, [0.5, 0.5 / sqrt(2)]),
        ("pegasos", 0.25, [4, 2]),
        ("bottou", 0.4, [0.5, 0.5 / 1.2]),
    ],
)
def test_rates_by_hand(rate, l2, steps):
    """The perceptron's errors are 1: by two mistakes the bias of y moves by the first step, and back by the second.

    Pegasos: 1 / (0.25 t) is 4, then 2. Bottou: 0.5 / (1 + 0.5 * 0.4 t) for t = 0, 1 is 0.5, then 0.5 / 1.2.
    """
    learner = StochasticGradientDescent(loss="perceptron", rate=rate, eta=0.5, l2=l2)
    learner.learn_many(["", "", ""], ["x", "y", "x"])
    assert_allclose(learner.bias[:2], [steps[1] - steps[0], steps[0] - steps[1]], rtol=1e-6)


def test_l2_shrinks_weights_but_not_the_bias():
    """With eta 0.5 and l2 0.2 each event learned shrinks weights by a tenth. The second event is a mistake."""
    learner = StochasticGradientDescent(loss="perceptron", eta=0.5, l2=0.2)
    learner.learn_many([{"a": 1}, {"a": 1}, {}, {}], ["x", "y", "y", "y"])
    weights = learner.effective_weights(1, 2)
    assert_allclose(weights, [[-0.5 * 0.81, 0.5 * 0.81]], rtol=1e-6)
    assert_allclose(learner.bias[:2], [-0.5, 0.5], rtol=1e-6)


def test_bottous_rate_shrinks_weights_and_steps_by_hand():
    """eta 0.5, l2 0.4: the steps are 1/2 and 5/12, each shrinks weights by 0.4 times itself before it moves them.

    W_y = 1/2 after the first mistake; the second one: W_y = 1/2 (1 - 1/6) - 5/12 = 0, its bias 1/2 - 5/12.
    """
    learner = StochasticGradientDescent(loss="perceptron", rate="bottou", eta=0.5, l2=0.4)
    learner.learn_many([{"a": 1}, {"a": 1}, {"a": 1}], ["x", "y", "x"])
    assert_allclose(learner.effective_weights(1, 2), [[0, 0]], atol=1e-7)
    assert_allclose(learner.bias[:2], [-1 / 12, 1 / 12], rtol=1e-5)


@pytest.mark.parametrize("rate", ["inverse", "bottou"])
def test_the_clock_counts_events_whatever_their_weights(rate):
    """An event of weight 0 teaches nothing, one of weight 3 is one step; unlabelled ones don't count."""
    learner = StochasticGradientDescent(rate=rate, l2=0.1)
    learner.learn_many([{"a": 1}] * 5, ["x", "y", "x", None, "y"], [1.0, 3.0, 0.0, 1.0, 0.5])
    assert learner.clock == 2


def test_perceptron_loss_at_constant_rate_one_is_the_perceptron(data):
    examples = real_examples(data / "trec-6.jsonl.gz", 500)
    ours, theirs = Run(StochasticGradientDescent("perceptron", eta=1.0, normalize=False), 20), Run(Perceptron(), 20)
    assert (ours.step(examples) == theirs.step(examples)).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("name", "n"), REAL_STREAMS[:3])
def test_real_streams_give_the_scores_of_the_twin(data, name, n, loss):
    check_against_twin(StochasticGradientDescent(loss), NaiveSGD(loss), real_examples(data / name, n), bits=20)


@given(streams(), st.sampled_from(LOSSES), st.sampled_from(RATES[:3]), st.booleans())
def test_any_stream_gives_the_scores_of_the_twin(stream, loss, rate, normalize):
    check_against_twin(
        StochasticGradientDescent(loss, rate, 0.3, 0, normalize), NaiveSGD(loss, rate, 0.3, 0, normalize), stream
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("rate", "l2"),
    [("constant", 0.3), ("inverse", 1e-3), ("inverse_sqrt", 0.5), ("pegasos", 0.1), ("bottou", 0.3)],
)
def test_lazy_shrinking_equals_shrinking_every_weight(data, loss, rate, l2):
    """Scores of a real stream; with a large l2 the scale is multiplied into the weights many times."""
    examples = real_examples(data / "trec-6.jsonl.gz", 300)
    run, twin = Run(StochasticGradientDescent(loss, rate, 0.5, l2), 20), NaiveSGD(loss, rate, 0.5, l2)
    for example in examples:
        ours, theirs = run.step([example])[0], twin.step(*example)
        assert_allclose(ours[: len(theirs)], list(theirs.values()), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("rate", ["constant", "bottou"])
def test_batch_sizes_change_nothing(data, rate):
    examples = real_examples(data / "trec-6.jsonl.gz", 400)
    whole, parts = (
        Run(StochasticGradientDescent("hinge", rate, 0.5, 0.3), 20),
        Run(StochasticGradientDescent("hinge", rate, 0.5, 0.3), 20),
    )
    whole.step(examples)
    for begin in range(0, 400, 7):
        parts.step(examples[begin : begin + 7])
    for name, table in whole.state().items():
        assert np.array_equal(table, parts.state()[name]), name


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"loss": "squared"}, "sgd.loss must be 'perceptron', 'log' or 'hinge', got 'squared'"),
        ({"rate": "fast"}, "sgd.rate must be 'constant', 'inverse', 'inverse_sqrt', 'pegasos' or 'bottou', got 'fast'"),
        ({"eta": 0}, "sgd.eta must be greater than 0, got 0"),
        ({"l2": -1.0}, "sgd.l2 must be greater than or equal to 0, got -1.0"),
        ({"rate": "pegasos"}, "sgd.l2 must be greater than 0 for pegasos, got 0.0"),
        ({"rate": "bottou"}, "sgd.l2 must be greater than 0 for bottou, got 0.0"),
        ({"rate": "bottou", "l2": 3.0}, "sgd.l2 must be at most 1 / eta = 2, got 3.0"),
        ({"eta": 0.5, "l2": 3.0}, "sgd.l2 must be at most 1 / eta = 2, got 3.0"),
    ],
)
def test_invalid_parameters_are_refused(parameters, line):
    with pytest.raises(ConfigError, match=line):
        StochasticGradientDescent(**parameters)
