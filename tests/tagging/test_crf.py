"""The gradients of the conditional random field, and what it learns from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.errors import ConfigError
from streamlin.tagging.crf import CRF, _Scratch, set_errors
from streamlin.tagging.viterbi import LANES, forward
from tests.tagging.lattices import LONGEST, Chain, K, chains, enumerated, program, score
from tests.tagging.running import Sentence, by_row, learn, new_model

CLOSE = {"rtol": 5e-5, "atol": 5e-5}


@st.composite
def tagged_chains(draw, partly=False):
    """A chain and its tags int32[n]; `partly`: some of them unknown, -1."""
    chain = draw(chains())
    tag = st.integers(-1 if partly else 0, K - 1)
    codes = draw(st.lists(tag, min_size=len(chain.scores), max_size=len(chain.scores)))
    return chain, np.array(codes, np.int32)


def gradients(chain, codes):
    """The gradient of -log P(tags) by each score and by each transition."""
    p, n = program(chain), len(chain.scores)
    forward(p.lattice, p.lattice.scores, p.factors, n, K, 0.0)
    empty = np.empty((LONGEST, LANES), np.float32)
    scratch = _Scratch(p.factors, p.pairs, np.zeros((0, LANES), np.float32), p.marginals, empty, empty[:0, :0].copy())
    set_errors(codes, 0, K, 0.0, p.lattice, scratch)
    return scratch.errors[:n, :K], scratch.pairs[: K + 1, :K]


def loss(scores, transitions, codes):
    """-log P(tags)."""
    chain = Chain(scores, transitions)
    return enumerated(chain).log_z - score(chain, tuple(codes))


def differences(table, loss_of, h=1e-4):
    """Central differences of a loss by each value of a table."""
    slopes = np.zeros_like(table)
    for at in np.ndindex(table.shape):
        up, down = table.copy(), table.copy()
        up[at] += h
        down[at] -= h
        slopes[at] = (loss_of(up) - loss_of(down)) / (2 * h)
    return slopes


@given(tagged_chains())
def test_errors_are_slopes_of_the_loss(case):
    """By each emission score and by each transition, as central differences have it."""
    chain, codes = case
    scores, transitions = (table.astype(np.float64) for table in chain)
    errors, pairs = gradients(chain, codes)
    assert_allclose(errors, differences(scores, lambda table: loss(table, transitions, codes)), **CLOSE)
    assert_allclose(pairs, differences(transitions, lambda table: loss(scores, table, codes)), **CLOSE)


@given(tagged_chains(partly=True))
def test_unknown_tags_leave_a_difference_of_expectations(case):
    """Over all sequences, less over those that agree with the known tags."""
    chain, codes = case
    free, fixed = enumerated(chain), enumerated(chain, codes)
    errors, pairs = gradients(chain, codes)
    assert_allclose(errors, free.marginals - fixed.marginals, **CLOSE)
    assert_allclose(pairs, free.pairs - fixed.pairs, **CLOSE)


@given(tagged_chains())
def test_errors_without_transitions_are_those_of_softmax(case):
    """Each token's probabilities, less 1 for its tag."""
    chain, codes = case
    errors, _ = gradients(Chain(chain.scores, np.zeros_like(chain.transitions)), codes)
    shares = np.exp(chain.scores.astype(np.float64))
    shares /= shares.sum(axis=1, keepdims=True)
    assert_allclose(errors, shares - np.eye(K)[codes], **CLOSE)


def test_one_step_by_hand():
    """eta 0.5, epsilon 1, nothing skipped; two tags are known, and all weights are 0.

    The sentence "a" with the tag X: P = (1/2, 1/2), g = (-1/2, 1/2), G = 1/4,
    W = -0.5 g / sqrt(1/4 + 1) = (0.2236, -0.2236) in each of the token's 22 rows, and in the start's row of T.
    """
    model = new_model({"kind": "crf", "eta": 0.5, "epsilon": 1.0, "prune": 0.0, "skip": 0.0})
    model.labels.learn(["X", "Y"])
    outcome = learn(model, [Sentence(["a"], ["X"])])
    crf, step = model.learners["crf"], 0.5 * 0.5 / np.sqrt(1.25)
    assert (outcome.tags, outcome.confidences.tolist()) == ([[["X"]]], [[0.5]])
    assert_allclose(by_row(crf, "weights", 22)[:, :2], [[step, -step]] * 22, rtol=1e-6)
    assert_allclose(by_row(crf, "squares", 22)[:, :2], 0.25)
    assert_allclose(crf.transitions[:3, :2], [[step, -step], [0, 0], [0, 0]], rtol=1e-6)


def test_a_weight_multiplies_the_gradient():
    """G grows with its square: with weight 2, g = 2 (P - [y = k])."""
    model = new_model({"kind": "crf", "skip": 0.0})
    model.labels.learn(["X", "Y"])
    learn(model, [Sentence(["a"], ["X"], 2.0)])
    assert_allclose(by_row(model.learners["crf"], "squares", 22)[:, :2], 1.0)


def test_small_gradients_are_skipped():
    """All are below 1."""
    model = new_model({"kind": "crf", "skip": 1.0})
    learn(model, [Sentence(["a", "b"], ["X", "Y"])] * 3)
    assert not model.learners["crf"].weights.any()


def test_hidden_tags_in_a_sentence_teach_the_others():
    """A token without a tag has no gradient while no transition ties it to another one."""
    model = new_model({"kind": "crf", "skip": 0.0, "prune": 0.0})
    model.labels.learn(["X", "Y"])
    learn(model, [Sentence(["a", "b"], ["X", None])])
    crf, rows = model.learners["crf"], model.rows["tokens"].index
    assert (by_row(crf, "weights", 22)[:, 0] > 0).all()
    assert (by_row(crf, "weights", 22)[:, 1] < 0).all()
    assert_array_equal(by_row(crf, "weights", len(rows))[22:, :2], 0.0)


@pytest.mark.parametrize("wrong", [{"eta": 0}, {"epsilon": 0}, {"prune": -1}, {"skip": -0.1}, {"eta": np.nan}])
def test_parameters_outside_their_limits_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        CRF(**wrong)
