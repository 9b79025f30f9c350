"""A race of two learners: by hand, beside its twin, and with learners other than naive Bayes."""

from itertools import pairwise
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.learners import LogisticRegression, Perceptron
from streamlin.learners.race import count_race, loss_of, second_answers
from tests.learners.running import Run
from tests.naive import NaiveRace
from tests.sample_streams import real_examples


class Race:
    """The sums of a race, and its kernels."""

    def __init__(self):
        self.lead, self.squares = np.zeros(()), np.zeros(())

    def count(self, first, second, y, weight=1.0):
        first, second = np.array(first, float), np.array(second, float)
        count_race(first, second, first.size, y, weight, self.lead, self.squares)
        return self

    @property
    def second_answers(self):
        return second_answers(self.lead, self.squares)


def test_a_race_by_hand():
    """(4, 0) has mean 2 and deviation 2, so it is (2, 0) after scaling: losses log(1 + e^-2) and 2 + log(1 + e^-2).

    First (4, 0), second (0, 4), label 1: d = 2, S = 2, sqrt Q = 2: not ahead. Once more: S = 4 > sqrt 8.
    """
    assert_allclose(loss_of(np.array([4.0, 0.0]), 2, 0), log(1 + exp(-2)))
    assert_allclose(loss_of(np.array([4.0, 0.0]), 2, 1), 2 + log(1 + exp(-2)))
    race = Race()
    assert not race.second_answers
    assert not race.count([4, 0], [0, 4], 1).second_answers
    assert race.count([4, 0], [0, 4], 1).second_answers
    assert_allclose([race.lead, race.squares], [4, 8])
    assert not race.count([0, 4], [4, 0], 1).second_answers
    assert_allclose([race.lead, race.squares], [2, 12])


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=20))
def test_neither_scale_nor_shift_of_scores_matters(rows):
    plain, scaled = Race(), Race()
    for a, b in pairwise(rows):
        plain.count(a, b, 1)
        scaled.count([1000 * score + 7 for score in a], [score / 64 for score in b], 1)
    assert_allclose(scaled.lead, plain.lead, rtol=1e-6, atol=1e-6)
    assert_allclose(scaled.squares, plain.squares, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("y", [-2, -1, 3, 7])
def test_an_event_without_a_known_label_is_no_part_of_it(y):
    assert Race().count([1, 2, 3], [3, 2, 1], y).lead == 0
    assert Race().count([1], [2], 0).lead == 0, "a single label can't be mistaken"


@pytest.mark.parametrize("odd", [[inf, 0.0], [1e200, -1e200], [np.nan, 0.0], [5.0, 5.0], [-inf, 0.0]])
def test_scores_that_say_nothing_have_the_loss_of_chance(odd):
    assert loss_of(np.array(odd), 2, 1) == log(2)


def test_it_can_race_any_two_learners(data):
    """Logistic regression beats the perceptron on real texts, and the twin counts the same, bit for bit."""
    examples = real_examples(data / "sms-spam.jsonl.gz", 2000)
    runs = Run(Perceptron(), 20), Run(LogisticRegression(), 20)
    first, second = (run.step(examples) for run in runs)
    race, twin, back = Race(), NaiveRace(), Race()
    names, known = runs[0].labels.names, 0
    for example, a, b in zip(examples, first, second, strict=True):
        if example.label is None or not example.weight:
            continue
        y = names.index(example.label)
        race.count(a[:known], b[:known], y, example.weight)
        back.count(b[:known], a[:known], y, example.weight)
        named = [dict(zip(names, scores[:known].tolist(), strict=False)) for scores in (a, b)]
        twin.count(*named, example.label, example.weight)
        known = max(known, y + 1)
    assert race.second_answers
    assert twin.second_answers
    assert not back.second_answers
    assert (race.lead, race.squares) == (twin.lead, twin.squares)
    assert race.lead > 2 * sqrt(race.squares)
