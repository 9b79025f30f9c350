"""The course of accuracy in a bounded number of points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from streamlin.evaluation.curve import POINTS
from streamlin.evaluation.tally import Tally
from tests.evaluation.scored import PREDICTORS, Scored, cuts
from tests.naive_metrics import NaiveAccuracy

WINDOW = 50


def made_up(n: int, unlabelled: float = 0.1) -> Scored:
    """Two labels, predictors of different skill."""
    random = np.random.default_rng(n)
    labels = random.integers(0, 2, n, np.int32)
    skill = np.array([[0.5], [0.7], [0.9]])
    predicted = np.where(random.random((PREDICTORS, n)) < skill, labels, 1 - labels).astype(np.int32)
    labels[random.random(n) < unlabelled] = -1
    return Scored(labels, random.choice([1.0, 0.3, 2.0], n), predicted)


def measured(stream: Scored, at: list[int]) -> Tally:
    accuracy = Tally(PREDICTORS, WINDOW)
    for part in stream.parts(at):
        accuracy.update(part.predicted, part.labels, part.weights, PREDICTORS)
    return accuracy


def wanted_events(n: int) -> list[int]:
    """Multiples of the smallest power of two that has fewer than POINTS of them up to n."""
    distance = 1
    while n // distance >= POINTS:
        distance *= 2
    return list(range(distance, n + 1, distance))


@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 1023, 1024, 5000])
def test_points_hold_the_accuracy_after_their_event(n: int) -> None:
    stream = made_up(n, unlabelled=0.1 if n > 1024 else 0.0)
    accuracy = measured(stream, list(range(13, n, 997)))
    events, points = accuracy.curve()
    assert events == wanted_events(int((stream.labels >= 0).sum()))
    assert points.shape == (len(events), 2, PREDICTORS)
    labels, weights, predicted = stream.plain()
    for m, own in enumerate(predicted):
        twin, found = NaiveAccuracy(WINDOW), dict(zip(events, points[:, :, m].tolist(), strict=True))
        for guess, label, weight in zip(own, labels, weights, strict=True):
            twin.count(guess, label, weight)
            if label is not None and len(twin.hits) in found:
                assert_allclose(found.pop(len(twin.hits)), [twin.running, twin.windowed], rtol=1e-12)
        assert not found


@given(cuts, st.integers(0, 5000))
def test_batches_and_a_restore_change_no_bit(at: list[int], cut: int) -> None:
    stream = made_up(5000)
    whole = measured(stream, [])
    before, after = stream.parts([cut])
    resumed = Tally(PREDICTORS, WINDOW)
    resumed.restore(measured(before, [at_ for at_ in at if at_ < cut]).state())
    resumed.update(after.predicted, after.labels, after.weights, PREDICTORS)
    for name, array in whole.state().items():
        assert array.tobytes() == resumed.state()[name].tobytes(), name


def test_many_events_need_no_more_room() -> None:
    """2^22 events: 2^14 from point to point, the same arrays."""
    accuracy, size = Tally(1, window=10), 1 << 16
    room = sum(array.nbytes for array in accuracy.state().values())
    for _ in range(64):
        accuracy.update(np.zeros((1, size), np.int32), np.zeros(size, np.int32), np.ones(size), 1)
    events, points = accuracy.curve()
    assert events == list(range(1 << 14, (1 << 22) + 1, 1 << 14))
    assert (points == 1.0).all()
    assert sum(array.nbytes for array in accuracy.state().values()) == room
