"""Whose label is asked for: never over the budget, and with probabilities that are exact."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.asking import Asking
from streamlin.asking.decisions import FIRST, UNCERTAIN, block_size, chance_of, drawn_from, uniform
from tests import naive_asking

BUDGETS = [0.001, 0.01, 0.05, 0.2, 0.37, 0.999, 1.0]


def decided(margins, budget, cuts=()):
    """Reasons and probabilities of a stream that is cut into batches."""
    asking, found = Asking(budget), []
    for begin, end in pairwise([0, *sorted(cuts), len(margins)]):
        found.append(asking.decide(np.array(margins[begin:end], np.float64)))
    reasons, probabilities = (np.concatenate(column) for column in zip(*found, strict=True))
    return reasons, probabilities, asking


def test_by_hand():
    """b = 0.5: m = ceil(1 / 0.1) = 10, so 1 of the events 21 to 30 is drawn. All margins of the first 20 are 0.5.

    Event 21, margin 0.4: left = ceil(0.5 * 21) + 20 - 20 = 11, so 20 (0.4 / 0.9 + 9 / 500) = 9.24889 of the last 20 are
                          wanted. Doubts are 0.5^3 = 0.125 each, 2.5 in all: c = 9.24889 / 2.5 = 3.69956.
                          Its doubt is 0.6^3 = 0.216: q = 0.79910, and u = 0.85549 > q: not asked, as it is not drawn.
                          The probability is q + 0.1 (1 - q) = 0.81919.
    Event 22, margin 0.0: left = 11 + 20 - 20 = 11; 21 (0.4 / 0.9 + 9 / 500) = 9.71133 of 21
                          are wanted, the doubts are 2.5 + 0.216: c = 3.57560, times 1: q = 1, so it is asked.
    """
    assert uniform(20, 1)[0] == pytest.approx(0.85549, abs=1e-5)
    assert drawn_from(0, 10) != 0
    reasons, probabilities, asking = decided([0.5] * 20 + [0.4, 0.0] + [0.9] * 8, 0.5)
    assert reasons[:22].tolist() == [FIRST] * 20 + [0, UNCERTAIN]
    assert probabilities[:22] == pytest.approx([1.0] * 20 + [0.81919, 1.0], abs=1e-5)
    assert asking.counts.tolist() == [30, (reasons > 0).sum(), 0]


def test_uniform_numbers_are_those_of_splitmix64():
    """The first three numbers of the generator, seeded with 0, as its authors publish them."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    np.testing.assert_array_equal(uniform(0, 3), [(number >> 11) / 2**53 for number in published])
    np.testing.assert_array_equal(uniform(0, 9)[4:], uniform(4, 5))


def test_as_many_are_asked_as_are_wanted():
    """The chances of the last margins sum to what is wanted, whatever they are; the more doubtful the higher."""
    random = np.random.default_rng(3)
    for margins in (random.random(500), random.beta(5, 0.1, 500), np.ones(500), np.r_[np.zeros(10), np.ones(490)]):
        ordered = np.sort(margins)
        for wanted in (0.01, 5.0, 11.0, 250.0, 499.9):
            chances = [chance_of(margin, wanted, 500, ordered) for margin in ordered.tolist()]
            assert sum(chances) == pytest.approx(wanted, rel=1e-9)
            assert (np.diff(chances) <= 0).all()
            assert 0 < min(chances) <= max(chances) <= 1


@pytest.mark.parametrize("budget", BUDGETS)
def test_equals_its_twin(budget):
    random = np.random.default_rng(1)
    margins = np.round(random.beta(2, 1, 2500), 2)  # with ties
    margins[1200:1500] = 0.0
    reasons, probabilities, _ = decided(margins, budget)
    expected = naive_asking.decisions(margins.tolist(), budget)
    assert list(zip(reasons.tolist(), probabilities.tolist(), strict=True)) == expected
    assert {*reasons.tolist()} >= {FIRST, UNCERTAIN}


margins_of_streams = st.lists(st.sampled_from([0.0, 0.1, 0.1, 0.5, 0.9, 1.0]) | st.floats(0, 1), max_size=300)


@given(margins_of_streams, st.sampled_from(BUDGETS), st.lists(st.integers(0, 300), max_size=4))
def test_batches_change_nothing(margins, budget, cuts):
    whole = decided(margins, budget)
    parts = decided(margins, budget, [min(cut, len(margins)) for cut in cuts])
    for mine, other in zip(whole[:2], parts[:2], strict=True):
        np.testing.assert_array_equal(mine, other)
    for name, array in whole[2].state().items():
        np.testing.assert_array_equal(array, parts[2].state()[name])
    assert parts[2].is_consistent()


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("shape", ["uniform", "falling", "one value", "waves"])
def test_the_budget_holds_at_every_event(budget, shape):
    """Never more than ceil(b n) + 20, and in the long run not much less."""
    n = np.arange(30_000)
    random = np.random.default_rng(2).random(n.size)
    margins = {
        "uniform": random,
        "falling": 1.0 - n / n.size,
        "one value": np.ones(n.size),
        "waves": np.abs(np.sin(n / 700)) * random,
    }[shape]
    reasons, probabilities, _ = decided(margins, budget, range(0, n.size, 997))
    asked = np.cumsum(reasons > 0)
    assert (asked <= np.ceil(budget * (n + 1)) + 20).all()
    assert asked[-1] >= 0.98 * budget * n.size - 20
    assert probabilities.min() >= 1 / block_size(budget)
    assert probabilities.max() == 1.0


def test_each_event_of_a_block_is_drawn_equally_often():
    """20,000 blocks of 25 events: counts of 800, give or take 28; one event of each block."""
    counts = np.bincount([drawn_from(block, 25) for block in range(20_000)], minlength=25)
    assert counts.size == 25
    assert abs(counts - 800).max() < 4 * 28


def test_weights_of_one_by_probability_stand_for_all_events():
    """A share that depends on the margin, estimated from 20 % of the events, over 40 streams; unweighted far off."""
    weighted, raw = [], []
    for seed in range(40):
        random = np.random.default_rng(seed)
        margins = random.random(4000)
        hits = random.random(4000) < margins
        reasons, probabilities, _ = decided(margins, 0.2)
        asked = reasons > 0
        weights = 1 / probabilities[asked]
        weighted.append((weights * hits[asked]).sum() / weights.sum() - hits.mean())
        raw.append(hits[asked].mean() - hits.mean())
    assert abs(np.mean(weighted)) < 0.01
    assert np.abs(weighted).mean() < 0.03
    assert np.mean(raw) < -0.2


def test_all_events_are_asked_with_the_budget_1():
    reasons, probabilities, _ = decided(np.linspace(0, 1, 3000), 1.0)
    assert (reasons > 0).all()
    assert (probabilities == 1).all()


def test_a_state_that_contradicts_itself_is_found():
    _, _, asking = decided(np.linspace(0, 1, 700), 0.05)
    assert asking.is_consistent()
    asking.ordered[0] = 0.9
    assert not asking.is_consistent()
