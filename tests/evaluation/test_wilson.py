"""The Wilson interval."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.evaluation.wilson import Z_95, wilson
from tests import naive_metrics


@pytest.mark.parametrize(
    ("correct", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_published_examples(correct: int, n: int, low: float, high: float) -> None:
    """Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3."""
    assert_allclose(wilson(correct, n), (low, high), atol=5e-5)


def test_by_hand() -> None:
    """One of two right, z = 2: (1/2 + 1 ± 2 sqrt(1/8 + 1/4)) / (1 + 2), the root 0.612372..."""
    root = math.sqrt(3 / 8)
    assert_allclose(wilson(1, 2, z=2.0), ((1.5 - 2 * root) / 3, (1.5 + 2 * root) / 3), rtol=1e-15)


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_equals_its_twin_and_holds_the_share(counts: tuple[int, int]) -> None:
    correct, n = counts
    interval = wilson(correct, n)
    assert interval is not None
    assert_allclose(interval, naive_metrics.wilson(correct, n, Z_95), rtol=1e-9, atol=1e-15)
    low, high = interval
    assert 0 <= low <= high <= 1
    assert low - 1e-12 <= correct / n <= high + 1e-12


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_of_errors_mirrors_that_of_hits(counts: tuple[int, int]) -> None:
    correct, n = counts
    low, high = wilson(correct, n) or (0, 0)
    assert_allclose(wilson(n - correct, n), (1 - high, 1 - low), atol=1e-12)


def test_the_ends_are_exact() -> None:
    assert wilson(0, 7)[0] == 0.0  # type: ignore[index]
    assert wilson(7, 7)[1] == 1.0  # type: ignore[index]


def test_zero_events_have_no_interval() -> None:
    assert wilson(0, 0) is None


def test_z_equals_the_normal_quantile() -> None:
    assert_allclose(Z_95, NormalDist().inv_cdf(0.975), rtol=1e-12)
