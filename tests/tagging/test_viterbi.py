"""The dynamic programs against enumeration of all sequences of tags."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.tagging.viterbi import add_posteriors, best_path, forward, set_limits
from tests.tagging.lattices import LONGEST, Chain, K, chains, enumerated, program, score

ONE = np.float32(1.0)
CLOSE = {"rtol": 2e-5, "atol": 2e-5}


@given(chains())
def test_viterbi_finds_the_best_of_all_sequences(chain):
    """Its score is the best one; of equally good sequences it may return any."""
    p, n = program(chain), len(chain.scores)
    path = np.full(LONGEST, -1, np.int32)
    set_limits(p.transitions, K, p.lattice.limits)
    best = best_path(p.lattice, p.lattice.scores, p.transitions, n, K, path)
    truth = enumerated(chain).best
    assert_allclose([best, score(chain, tuple(path[:n]))], truth, **CLOSE)
    assert (path[n:] == -1).all()


@given(st.integers(1, LONGEST))
def test_of_equal_tags_the_one_seen_first_wins(n):
    p = program(Chain(np.zeros((n, K), np.float32), np.zeros((K + 1, K), np.float32)))
    path = np.full(LONGEST, -1, np.int32)
    set_limits(p.transitions, K, p.lattice.limits)
    best_path(p.lattice, p.lattice.scores, p.transitions, n, K, path)
    assert path[:n].tolist() == [0] * n


@given(chains(5))
def test_predecessors_left_out_change_no_path(chain):
    """The same path and score, bit for bit, as a search that looks at every predecessor."""
    p, n = program(chain), len(chain.scores)
    path = np.full(LONGEST, -1, np.int32)
    set_limits(p.transitions, 5, p.lattice.limits)
    best = best_path(p.lattice, p.lattice.scores, p.transitions, n, 5, path)
    expected, expected_best = whole_search(chain)
    assert path[:n].tolist() == expected
    assert best == expected_best


def test_some_predecessors_are_left_out():
    """After a token that is surely tag 0, only tag 0 can be the best predecessor."""
    chain = Chain(np.array([[9, 0, 0], [0, 1, 0]], np.float32), np.zeros((K + 1, K), np.float32))
    p = program(chain)
    set_limits(p.transitions, K, p.lattice.limits)
    path = np.full(LONGEST, -1, np.int32)
    best_path(p.lattice, p.lattice.scores, p.transitions, 2, K, path)
    before, limits = p.lattice.delta[0], p.lattice.limits
    left_out = [before[j] + limits[1, j] < before[0] + limits[0, 0] for j in range(K)]
    assert (left_out, path[:2].tolist()) == ([False, True, True], [0, 1])


def whole_search(chain):
    """Viterbi's algorithm in float32; at every step the first of the best predecessors."""
    scores, transitions = chain
    delta, back = scores[0] + transitions[0], []
    for own in scores[1:]:
        candidates = delta[:, None] + transitions[1:]
        back.append(candidates.argmax(axis=0))
        delta = candidates.max(axis=0) + own
    path = [int(delta.argmax())]
    for origin in reversed(back):
        path.append(int(origin[path[-1]]))
    return path[::-1], delta.max()


@given(chains())
def test_log_z_is_that_of_all_sequences(chain):
    p, n = program(chain), len(chain.scores)
    log_z = forward(p.lattice, p.lattice.scores, p.factors, n, K, 0.0)
    assert_allclose(log_z, enumerated(chain).log_z, **CLOSE)


@given(chains())
def test_posteriors_are_those_of_all_sequences(chain):
    """Of each token's tags, and of each transition; the start's row holds the first token's tags."""
    p, n = program(chain), len(chain.scores)
    forward(p.lattice, p.lattice.scores, p.factors, n, K, 0.0)
    add_posteriors(p.lattice, p.factors, n, ONE, p.marginals, p.pairs)
    truth = enumerated(chain)
    assert_allclose(p.marginals[:n, :K], truth.marginals, **CLOSE)
    assert_allclose(p.pairs[: K + 1, :K], truth.pairs, **CLOSE)
    assert not p.marginals[:, K:].any()
    assert not p.pairs[:, K:].any()


@given(chains(), st.sampled_from([1e-6, 1e-3, 1e-2]))
def test_tags_left_out_of_sums_cost_little(chain, threshold):
    """log Z only falls; what is kept is renormalised, token by token."""
    p, n = program(chain), len(chain.scores)
    log_z = forward(p.lattice, p.lattice.scores, p.factors, n, K, threshold)
    truth = enumerated(chain)
    assert log_z <= truth.log_z + 1e-4
    add_posteriors(p.lattice, p.factors, n, ONE, p.marginals, p.pairs)
    assert_allclose(p.marginals[:n].sum(axis=1), 1.0, rtol=1e-5)
    assert_allclose(p.pairs.sum(), n, rtol=1e-5)
    filtered = filtered_probabilities(chain, threshold)
    assert_allclose(p.lattice.alpha[:n, :K], filtered, **CLOSE)


def filtered_probabilities(chain, threshold):
    """P(tag k at t | tokens up to t), without those whose share is not above the threshold."""
    factors, rows = np.exp(chain.transitions.astype(np.float64)), []
    for t, own in enumerate(np.exp(chain.scores.astype(np.float64))):
        a = own * (factors[0] if t == 0 else rows[-1] @ factors[1:])
        a /= a.sum()
        assume((np.abs(a / threshold - 1) > 1e-4).all())  # float32 may be on the other side
        a[a <= threshold] = 0.0
        rows.append(a / a.sum())
    return np.array(rows)


@given(chains())
def test_without_transitions_tokens_are_independent(chain):
    """log Z is the sum of each token's, and posteriors are their softmax."""
    chain = Chain(chain.scores, np.zeros_like(chain.transitions))
    p, n = program(chain), len(chain.scores)
    log_z = forward(p.lattice, p.lattice.scores, p.factors, n, K, 0.0)
    add_posteriors(p.lattice, p.factors, n, ONE, p.marginals, p.pairs)
    scores = chain.scores.astype(np.float64)
    each = np.logaddexp.reduce(scores, axis=1)
    assert_allclose(log_z, each.sum(), **CLOSE)
    assert_allclose(p.marginals[:n, :K], np.exp(scores - each[:, None]), **CLOSE)


@given(chains(), st.sampled_from([0.4, 1.0, 3.0]))
def test_where_no_tag_is_above_the_threshold_all_stay(chain, threshold):
    """As at the start of a stream of many tags, which are all equally probable."""
    chain = Chain(np.zeros_like(chain.scores), np.zeros_like(chain.transitions))
    p, n = program(chain), len(chain.scores)
    log_z = forward(p.lattice, p.lattice.scores, p.factors, n, K, threshold)
    add_posteriors(p.lattice, p.factors, n, ONE, p.marginals, p.pairs)
    assert_allclose(log_z, n * np.log(K), **CLOSE)
    assert_allclose(p.marginals[:n, :K], 1 / K, **CLOSE)
