"""Loops over tags and over a token's features, in the forms that compile to vectors, against plain ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from streamlin.kernel import kernel
from streamlin.tagging.adagrad import new_gradient, step_token
from streamlin.tagging.reductions import best_of, farthest, highest, lowest, sum_of
from streamlin.tagging.viterbi import set_emissions

_some = st.sampled_from([-2.0, -0.5, 0.0, 0.5, 2.0]) | st.floats(-9, 9, width=32)


@given(st.lists(_some, min_size=1, max_size=30), st.integers(0, 9))
def test_the_highest_its_first_place_and_the_sum(values, behind):
    """What lies behind the n values, as in padded columns, does not count."""
    x, n = np.array(values + [99.0, -99.0] * behind, np.float32), len(values)
    assert reduced(x, n).tolist() == [max(values), min(values), max(map(abs, values)), summed(x[:n])]
    assert best_of(x, n) == values.index(max(values))
    assert_allclose(summed(x[:n]), sum(values), rtol=1e-5, atol=1e-4)


@kernel
def reduced(x, n):
    """The four reductions, within a kernel."""
    return np.array([highest(x, n), lowest(x, n), farthest(x, n), sum_of(x, n)])


def summed(x):
    """The sum in the order that `sum_of` promises."""
    whole = x.size // 8 * 8
    eighths = np.add.reduce(x[:whole].reshape(-1, 8), axis=0) if whole else np.zeros(8, np.float32)
    fourths = eighths[:4] + eighths[4:]
    return np.add.accumulate(np.append((fourths[0] + fourths[2]) + (fourths[1] + fourths[3]), x[whole:]))[-1]


@pytest.mark.parametrize("known", [0, 3, 12])
def test_emissions_are_the_weights_of_known_rows_added_in_order(known):
    rng = np.random.default_rng(7)
    weights, rows = rng.normal(size=(12, 8)).astype(np.float32), rng.integers(-1, 12, (5, 11)).astype(np.int32)
    slots = np.array([3, -1, 0, 7, 1, 2, -1, 5, 6, 4, 9, 8], np.int32)
    scores = np.full((5, 8), 7.0, np.float32)
    set_emissions(rows, known, slots, weights, 8, scores)
    for t in range(5):
        expected = np.zeros(8, np.float32)
        for row in rows[t]:
            if 0 <= row < known and slots[row] >= 0:
                expected += weights[slots[row]]
        assert_array_equal(scores[t], expected)


def test_steps_of_a_token_go_row_by_row_also_where_two_features_share_one():
    rng = np.random.default_rng(7)
    eta, epsilon, size = np.float32(0.2), np.float32(1e-3), 2
    rows = np.array([3, -1, 0, 3, 2, -1], np.int32)
    weights, squares = (rng.random((4, 8)).astype(np.float32) for _ in range(2))
    gradient = new_gradient(8, rows.size)
    gradient.tags[:size], gradient.values[:size] = [5, 1], [0.75, -0.5]
    expected, expected_squares = weights.copy(), squares.copy()
    for row in rows[rows >= 0]:
        for k, g in zip(gradient.tags[:size], gradient.values[:size], strict=True):
            expected_squares[row, k] += g * g
            expected[row, k] -= eta * g / np.sqrt(expected_squares[row, k] + epsilon)
    slots, n_slots = np.full(4, -1, np.int32), np.zeros(1, np.int64)
    slots[2], n_slots[0] = 2, 3  # learned before; 3 and 0 are new
    weights, squares = (np.concatenate([table, np.zeros((1, 8), np.float32)]) for table in (weights, squares))
    weights[[3, 4]], squares[[3, 4]] = weights[[3, 0]], squares[[3, 0]]
    step_token(gradient, size, rows, slots, n_slots, eta, epsilon, weights, squares)
    assert (slots.tolist(), n_slots.tolist()) == ([4, -1, 2, 3], [5])
    assert_array_equal(squares[slots[[0, 2, 3]]], expected_squares[[0, 2, 3]])
    assert_array_equal(weights[slots[[0, 2, 3]]], expected[[0, 2, 3]])
