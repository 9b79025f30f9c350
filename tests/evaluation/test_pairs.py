"""Predictors against each other."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binomtest, chi2

from streamlin.evaluation.mcnemar import mcnemar
from streamlin.evaluation.metrics import LeaderP
from streamlin.evaluation.pairs import Pairs, pair_list
from streamlin.evaluation.tally import Tally
from tests import naive_agreement
from tests.evaluation.computed import computed, sums_of
from tests.evaluation.scored import PREDICTORS, REAL, Scored, cuts, real_stream, scored_streams

NAMES = [f"predictor {m}" for m in range(PREDICTORS)]


def counted(stream: Scored, at: list[int], window: int = 5) -> tuple[Pairs, Tally]:
    pairs, tally = Pairs(PREDICTORS), Tally(PREDICTORS, window)
    for part in stream.parts([cut for cut in at if cut < stream.labels.size]):
        pairs.update(part.predicted, part.labels)
        tally.update(part.predicted, part.labels, part.weights, 1)
    return pairs, tally


def test_mcnemar_by_hand() -> None:
    """9 against 3 of 12: 2 (1 + 12 + 66 + 220) / 4096.  40 against 20: (20 - 1)^2 / 60 = 6.0167, p = 0.01417."""
    assert mcnemar(9, 3) == mcnemar(3, 9) == 598 / 4096
    assert_allclose(mcnemar(40, 20), 0.01417, rtol=1e-3)
    assert mcnemar(0, 0) == mcnemar(1, 1) == mcnemar(500, 500) == mcnemar(501, 500) == 1.0


@pytest.mark.parametrize("n", [*range(30), 60, 1000, 10**9])
def test_p_equals_scipy(n: int) -> None:
    for first in {0, min(1, n), n // 3, n // 2, max(0, n - 2), n}:
        second = n - first
        if n < 25:
            expected = binomtest(first, n).pvalue if n else 1.0
        else:
            expected = chi2.sf(max(0, abs(first - second) - 1) ** 2 / n, 1)
        assert_allclose(mcnemar(first, second), expected, rtol=1e-9)
        assert_allclose(mcnemar(first, second), naive_agreement.mcnemar(first, second), rtol=1e-9)


@given(scored_streams(), cuts, st.integers(1, 7))
def test_equals_its_twin(stream: Scored, at: list[int], window: int) -> None:
    assert_equals_twin(*counted(stream, at, window), stream, window)


@pytest.mark.parametrize("name", REAL)
def test_equals_its_twin_on_real_labels(data: Path, name: str) -> None:
    stream = real_stream(data, name)
    assert_equals_twin(*counted(stream, [1, 8, 1008], 500), stream, 500)


def assert_equals_twin(pairs: Pairs, tally: Tally, stream: Scored, window: int) -> None:
    labels, weights, predicted = stream.plain()
    events = [
        [(y, guess, w) for y, guess, w in zip(labels, own, weights, strict=True) if y is not None] for own in predicted
    ]
    sums = sums_of(tally, PREDICTORS, pairs=pairs)
    rows = pair_list(NAMES, sums["running"], sums["window"])
    assert [(row["first"], row["second"]) for row in rows] == [
        (NAMES[a], NAMES[b]) for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    for row in rows:
        first, second = (events[NAMES.index(row[key])] for key in ("first", "second"))
        for span, part in (("", slice(None)), ("window_", slice(-window, None))):
            counts = naive_agreement.discordant(first[part], second[part])  # type: ignore[arg-type]
            assert (row[f"{span}only_first"], row[f"{span}only_second"]) == counts
            assert row[f"{span}p"] == mcnemar(*counts)
    leader = sums["running"].leader
    for m, row in enumerate(computed([LeaderP], sums)):
        if leader is None or leader == m:
            assert row == {"leader_p": None, "window_leader_p": None}
        else:
            pair = rows[m + leader - 1]  # 0 and 1, 0 and 2, 1 and 2
            assert row == {"leader_p": pair["p"], "window_leader_p": pair["window_p"]}


def test_without_a_leader_p_is_none() -> None:
    assert computed([LeaderP], sums_of(Tally(2), 2)) == [{"leader_p": None, "window_leader_p": None}] * 2


@given(scored_streams(), cuts, st.integers(0, 30))
def test_batches_and_a_restore_change_nothing(stream: Scored, at: list[int], cut: int) -> None:
    before, after = stream.parts([min(cut, stream.labels.size)])
    resumed = Pairs(PREDICTORS)
    resumed.restore(counted(before, at)[0].state())
    resumed.update(after.predicted, after.labels)
    assert counted(stream, [])[0].only.tolist() == resumed.only.tolist() == counted(stream, at)[0].only.tolist()
