"""When a key's own model answers, by hand; and what it answers with."""

import numpy as np
import pytest

from streamlin.keyed.race import answer, with_all_candidates

NONE = -np.inf
YES, NO = [1.0, 0.0], [0.0, 1.0]
"""Scores of a model that says label 0, or label 1."""


def raced(
    shared: list[list[float]], own: list[list[float]], labels: list[int], weights: list[float] | None = None
) -> tuple[list[bool], float, float]:
    """Where the key's own model answered, then S and Q; own scores below -inf: it has no candidate."""
    scores, slots = np.array(shared), np.zeros(len(labels), np.int32)
    known = np.array([sum(one > NONE for one in each) for each in own])
    sums = [np.zeros(1) for _ in range(4)]
    given = np.ones(len(labels)) if weights is None else np.array(weights)
    codes = np.array(labels, np.int32)
    order = np.arange(len(labels))
    answer(np.array(own) + 10, known, order, slots, codes, given, np.array([[0, 1]], np.int32), True, *sums, scores)
    return (scores.max(axis=1) >= 10).tolist(), float(sums[0][0]), float(sums[1][0])


def test_the_own_model_answers_once_it_is_ahead() -> None:
    """Own is right at events 1 to 3, shared only at the third: after the first S = 1 = sqrt Q, which is no lead yet.

    After the second S = 2 > sqrt 2, so own answers from event 3 on. There both are right: S and Q stay. At events 4
    to 6 shared alone is right: S = 1 < sqrt 3, so own does not answer event 5; S = 0, then -1.
    """
    ahead, lead, squares = raced([NO, NO, YES, NO, NO, NO], [YES] * 6, [0, 0, 0, 1, 1, 1])
    assert ahead == [False, False, True, True, False, False]
    assert (lead, squares) == (-1.0, 5.0)


def test_an_event_without_a_label_or_candidates_says_nothing() -> None:
    """Nor one of which a model knows no label yet."""
    ahead, lead, squares = raced([NO, NO, [NONE, NONE]], [YES, [NONE, NONE], YES], [-1, 0, 0])
    assert (ahead, lead, squares) == ([False] * 3, 0.0, 0.0)


def test_weights_multiply_what_an_event_says() -> None:
    """Weights 3 and 1: S = 3, Q = 9, then S = 2, Q = 10: 2 < sqrt 10."""
    ahead, lead, squares = raced([NO, NO, NO], [YES, YES, YES], [0, 1, -1], [3.0, 1.0, 1.0])
    assert (ahead, lead, squares) == ([False] * 3, 2.0, 10.0)


@pytest.mark.parametrize(("own", "best"), [([5.0, 5.0, 1.0], 2), ([4.0, 5.0, 1.0], 0), ([1.0, 5.0, 5.0], 0)])
def test_of_equal_scores_the_label_that_the_key_saw_first_wins(own: list[float], best: int) -> None:
    """The key saw the run's labels 2, 0, 3 in this order; label 1 is none of its candidates."""
    scores, code_of = np.zeros((1, 4)), np.array([[2, 0, 3]], np.int32)
    one, sums = np.zeros(1, np.int32), [np.zeros(1) for _ in range(4)]
    first = np.zeros(1, np.int64)
    answer(
        np.array([own]), np.array([3]), first, one, np.array([-1], np.int32), np.ones(1), code_of, False, *sums, scores
    )
    assert scores.argmax() == best
    assert scores[0, 1] == NONE
    assert scores[0, [2, 0, 3]] == pytest.approx(own, rel=1e-15)


def test_mixtures_see_every_label_as_a_candidate() -> None:
    """Scores 4 and 1, so the label without one gets 1 - 3 = -2; a single score of 4 gives 3; none stays none."""
    scores = np.array([[[4.0, NONE, 1.0, NONE], [NONE, 4.0, NONE, NONE], [NONE] * 4]])
    with_all_candidates(scores, np.array([3, 2, 4]))
    assert scores[0].tolist() == [[4.0, -2.0, 1.0, NONE], [3.0, 4.0, NONE, NONE], [NONE] * 4]
