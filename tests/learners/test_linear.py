"""Kernels shared by linear learners."""

import numpy as np
import pytest

from streamlin.learners.linear import best_other


@pytest.mark.parametrize(("y", "other"), [(-1, 1), (1, 2), (0, 1), (2, 1), (5, 1)])
def test_best_other_ignores_y(y, other):
    assert best_other(np.array([1.0, 3.0, 3.0, -np.inf]), y) == other


def test_best_other_is_minus_one_without_a_candidate():
    assert best_other(np.array([2.0, -np.inf]), 0) == -1
    assert best_other(np.empty(0), -1) == -1
