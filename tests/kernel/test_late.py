"""Late kernels: who runs them, and that twins agree with what they stand in for."""

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from streamlin.config import RunConfig
from streamlin.evaluation.feature_counts import count_features
from streamlin.evaluation.predictions import predict
from streamlin.evaluation.temperature import powers_of, variance
from streamlin.evaluation.window import window_shares
from streamlin.features.rows import assign_rows
from streamlin.kernel import late
from streamlin.kernel.byte_buffers import PADDING, copy_bytes
from streamlin.kernel.late import ALONE, in_python, late_kernel, rely_on
from streamlin.kernel.ranges import bounds_of, copy_ranges
from streamlin.learners.likelihoods import smooth
from streamlin.running.second_compiler import SecondCompiler

numbers = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, math.inf, -math.inf, math.nan])


def log_of_sum(values):
    total = 0.0
    for value in values:
        total += value
    return math.log(total)


class Other:
    """Another process, in which nothing is compiled in fact."""

    runs = True

    def is_compiling(self) -> bool:
        return self.runs


@pytest.fixture
def other() -> Iterator[Other]:
    rely_on(other := Other())
    yield other
    rely_on(None)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A late kernel that is not on disk."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return late_kernel(log_of_sum)


def test_python_runs_it_while_another_process_compiles(kernel, other) -> None:
    assert kernel(np.arange(4.0)) == math.log(6)
    assert kernel(np.ones(2)) == math.log(2)
    assert kernel.signatures == []
    other.runs = False
    assert kernel(np.arange(4.0)) == math.log(6)
    assert len(kernel.signatures) == 1


def test_what_is_on_disk_is_loaded(kernel, other, tmp_path) -> None:
    rely_on(None)
    kernel(np.ones(2))
    rely_on(other)
    again = late_kernel(log_of_sum)
    assert again(np.ones(2)) == math.log(2)
    assert again.stats.cache_hits.total() == 1
    assert again(np.ones(2, np.float32)) == math.log(2)
    assert len(again.signatures) == 1, "other types are not on disk"


def test_python_runs_late_kernels_for_some_seconds_only(kernel, other, monkeypatch) -> None:
    kernel(np.ones(2))
    assert kernel.signatures == []
    monkeypatch.setattr(late, "LONGEST", -1.0)
    kernel(np.ones(2))
    assert len(kernel.signatures) == 1


def test_a_process_can_be_told_to_compile_all(kernel, other, monkeypatch) -> None:
    """As those that `streamlin warm` starts are; they start no other process either."""
    monkeypatch.setitem(sys._xoptions, ALONE, True)
    assert not SecondCompiler(RunConfig()).is_compiling()
    kernel(np.ones(2))
    assert len(kernel.signatures) == 1


@given(arrays(np.float64, st.integers(1, 40), elements=numbers), st.floats(0.01, 100))
def test_softmax(scores, factor) -> None:
    top, n = np.nanmax([*scores, -np.inf]), scores.size
    ours, theirs = np.zeros(n), np.zeros(n)
    with np.errstate(all="ignore"):
        assert_same(in_python(variance)(scores, top, n), variance(scores, top, n))
        assert_same(in_python(powers_of)(scores, top, n, factor, ours), powers_of(scores, top, n, factor, theirs))
    assert_same(ours, theirs)


@given(arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(0, 5), st.integers(0, 4)), elements=numbers))
def test_predictions(scores) -> None:
    ours, theirs = np.zeros((2, *scores.shape[:2]), np.int32)
    in_python(predict)(scores, ours)
    predict(scores, theirs)
    assert_same(ours, theirs)


@given(st.data(), st.integers(0, 30))
def test_shares_of_a_window(draw, n) -> None:
    labels, weights = (
        draw.draw(arrays(kind, n, elements=some)) for kind, some in ((np.int32, st.integers(0, 2)), (float, numbers))
    )
    predicted = draw.draw(arrays(np.int32, (n, 2), elements=st.integers(-2, 2)))
    ours, theirs = np.zeros((2, 2))
    with np.errstate(all="ignore"):
        in_python(window_shares)(labels, predicted, weights, ours)
    window_shares(labels, predicted, weights, theirs)
    assert_same(ours, theirs)


@given(st.data(), st.lists(st.integers(0, 4), max_size=12), st.integers(0, 20), st.integers(1, 8))
def test_counts_of_features(draw, lengths, events, window) -> None:
    n, indptr = len(lengths), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    rows = draw.draw(arrays(np.int32, int(indptr[-1]) + 2, elements=st.integers(-2, 9)))
    before = np.sort(draw.draw(arrays(np.int64, n, elements=st.integers(0, 9))))
    weights = draw.draw(arrays(float, n, elements=st.sampled_from([0.0, 1.0, 0.5])))
    ours, theirs = ((np.zeros(2, np.int64), np.zeros((window, 2), np.int32)) for _ in range(2))
    in_python(count_features)(indptr, rows, before, weights, events, *ours)
    count_features(indptr, rows, before, weights, events, *theirs)
    for own, other in zip(ours, theirs, strict=True):
        assert_same(own, other)


@given(st.data(), st.lists(st.integers(0, 4), max_size=12), st.integers(1, 3))
def test_rows(draw, lengths, min_count) -> None:
    """Of two batches: the second one finds rows of the first."""
    n, indptr = len(lengths), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    n_buckets, size = 8, int(indptr[-1])
    states = [
        (
            np.zeros(n_buckets if min_count > 1 else 0, np.int32),
            np.full(n_buckets, -1, np.int32),
            np.zeros(99, np.int32),
        )
        for _ in range(2)
    ]
    counts = [0, 0]
    for _ in range(2):
        buckets = draw.draw(arrays(np.int32, size, elements=st.integers(0, n_buckets - 1)))
        learned = draw.draw(arrays(np.bool_, n))
        found = []
        for k, assign in enumerate((in_python(assign_rows), assign_rows)):
            rows, before = np.zeros(size, np.int32), np.zeros(n, np.int64)
            counts[k] = assign(indptr, buckets, learned, min_count, *states[k], counts[k], rows, before)
            found.append((rows, before))
        assert counts[0] == counts[1]
        for own, other in zip((*found[0], *states[0]), (*found[1], *states[1]), strict=True):
            assert_same(own, other)


@given(st.binary(max_size=30), st.integers(0, 5))
def test_copies(data, at) -> None:
    source = np.frombuffer(data + bytes(PADDING), np.uint8)
    ours, theirs = np.zeros((2, len(data) + 5 + PADDING), np.uint8)
    end = copy_bytes(source, 0, len(data), theirs, at)
    assert in_python(copy_bytes)(source, 0, len(data), ours, at) == end
    assert_same(ours[:end], theirs[:end])


@given(st.data(), st.integers(0, 6), st.integers(1, 20))
def test_chosen_ranges(draw, n, most) -> None:
    bounds = np.concatenate([[0], np.cumsum(draw.draw(arrays(np.int64, 6, elements=st.integers(0, most))))])
    chosen = draw.draw(arrays(np.int64, n, elements=st.integers(0, 5)))
    source, own = np.arange(bounds[-1], dtype=np.int32), bounds_of(bounds, chosen)
    ours, theirs = np.full((2, own[-1] + 1), -1, np.int32)
    in_python(copy_ranges)(source, bounds, chosen, own, ours)
    copy_ranges(source, bounds, chosen, own, theirs)
    assert_same(ours, theirs)


@given(arrays(np.float64, st.integers(1, 6), elements=numbers), st.booleans(), st.floats(0.01, 10), st.integers(0, 9))
def test_smoothing(totals, by_prior, alpha, n_rows) -> None:
    """Also of totals that have overflowed."""
    ours, theirs = np.zeros((2, 2, totals.size))
    found = []
    with np.errstate(all="ignore"):
        for run, (inverses, offsets) in ((in_python(smooth), ours), (smooth, theirs)):
            found.append(run(by_prior, alpha, np.abs(totals), totals.size, n_rows, inverses, offsets))
    assert found[0] == found[1]
    assert_same(ours, theirs)


def assert_same(ours: Any, theirs: Any) -> None:
    """The same numbers to the bit; any NaN is like another."""
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
