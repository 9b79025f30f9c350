"""AROW, by hand and beside its twin."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.errors import ConfigError
from streamlin.learners import Arow
from tests.learners.running import POSITIVE, REAL_STREAMS, Run, check_against_twin
from tests.naive import NaiveArow
from tests.sample_streams import Example, real_examples, streams


def test_three_events_by_hand():
    """r = 2; features a, b and the bias, in this order:

    (1, 0; 1) is x: no rival, nothing is learned.
    (1, 2; 1) is y: y, new, counts as 0, x scores 0: loss 1; precisions are 1, v = 2 (1 + 4 + 1) = 12
                    tau = 1 / (12 + 2) = 1/14:  W_y = (1, 2; 1) / 14,  W_x = -W_y
                    precisions are now 1 + 1/2, 1 + 4/2, 1 + 1/2
    (2, 0; 1) is x: x -3/14, y 3/14: loss 10/7; v = 2 (4 / 1.5 + 1 / 1.5) = 20/3
                    tau = 10/7 / (20/3 + 2) = 15/91: W_xa += 2 tau / 1.5 = 20/91, b_x += tau / 1.5 = 10/91
                    precisions are now 1.5 + 4/2, 3, 1.5 + 1/2
    (1, 0; 1) has x -2/14 + 30/91, y the opposite.
    """
    learner = Arow(r=2.0)
    assert learner.learn_many([{"a": 1}, {"a": 1, "b": 2}, {"a": 2}], ["x", "y", "x"]) == [None, "x", "y"]
    score = 30 / 91 - 2 / 14
    assert_allclose(learner.scores_many([{"a": 1}]), [[score, -score]], rtol=1e-6)
    assert learner.precisions[:2, 0].tolist() == [2.5, 2]
    assert learner.bias_precision == 1


def test_the_weight_multiplies_step_and_precision_growth():
    """v = 2 (1 + 1), tau = 3 / (4 + 10); a precision grows by 3 / 10."""
    learner = Arow().learn_one({"a": 1}, "x").learn_one({"a": 1}, "y", 3.0)
    assert_allclose(learner.scores_many([{}]), [[-3 / 14, 3 / 14]], rtol=1e-6)
    assert_allclose([learner.precisions[0, 0], learner.bias_precision], 0.3)


def rival_of(scores, y):
    """The best scored label other than y."""
    return max((k for k in range(scores.size) if k != y), key=lambda k: scores[k])


@given(streams(labelled=True), streams(labelled=True).filter(bool), st.sampled_from([0.1, 10.0]))
def test_a_step_reduces_the_loss_by_the_documented_factor(stream, others, r):
    """By the variance v of the margin: an example with certain features is hardly changed."""
    run = Run(Arow(r))
    run.step([Example({}, "a"), Example({}, "b"), *stream])
    x, label, _ = others[0]
    before = run.step([Example(x, None)])[0]
    rows = {bucket: row for row, bucket in enumerate(run.rows.buckets.tolist())}
    precisions, bias_precision = run.state()["precisions"][:, 0].copy(), float(run.learner.bias_precision)
    variance = 2 / (1 + bias_precision)
    for j, value in x.items():
        variance += 2 * value * value / (1 + (precisions[rows[j]] if j in rows else 0))
    run.step([Example(x, label)])
    after = run.step([Example(x, None)])[0]
    y = run.labels.code(label)
    rival = rival_of(before, y)
    loss = max(0, 1 - (before[y] if y < before.size else 0) + before[rival])
    assert_allclose(1 - after[y] + after[rival] if loss else 0, loss * r / (variance + r), rtol=1e-3, atol=1e-3)


@given(streams(), st.sampled_from([0.1, 10.0]))
def test_precision_sums_the_squares_of_learned_values(stream, r):
    """A precision grows by w x^2 / r if there was a loss, and weights change only then."""
    run, sums, bias_sum = Run(Arow(r)), {}, 0.0
    for x, label, weight in stream:
        scores = run.step([Example(x, label, weight)])[0]
        y, known = run.labels.code(label), np.count_nonzero(scores > -inf)
        if label is None or weight == 0 or known < 1 + (y < known):
            continue
        if 1 - (scores[y] if y < known else 0) + scores[rival_of(scores[:known], y)] > 0:
            bias_sum += weight / r
            for j, value in x.items():
                sums[j] = sums.get(j, 0.0) + weight * value * value / r
    assert_allclose(run.learner.bias_precision, bias_sum)
    assert_allclose(run.state()["precisions"][:, 0], [sums.get(j, 0.0) for j in run.rows.buckets.tolist()])


def test_an_event_without_loss_teaches_nothing():
    """With a tiny r and weight 1.5 the first step goes beyond margin 1."""
    learner = Arow(r=1e-9).learn_one({}, "x").learn_one({"a": 1}, "y", 1.5)
    before = {name: getattr(learner, name).copy() for name in learner.tables}
    learner.learn_one({"a": 1}, "y")
    for name, table in before.items():
        assert_array_equal(getattr(learner, name), table)


@pytest.mark.parametrize("r", [0.0, -1.0, nan, inf])
def test_r_must_be_positive_and_finite(r):
    with pytest.raises(ConfigError, match=f"arow.r {POSITIVE}, got {r}"):
        Arow(r=r)


@pytest.mark.parametrize(("name", "n"), REAL_STREAMS)
def test_real_streams_give_the_scores_of_the_twin(data, name, n):
    check_against_twin(Arow(), NaiveArow(), real_examples(data / name, n), bits=20)


@given(streams(), st.sampled_from([0.1, 10.0]), st.booleans())
def test_any_stream_gives_the_scores_of_the_twin(stream, r, normalize):
    check_against_twin(Arow(r, normalize), NaiveArow(r, normalize), stream)
