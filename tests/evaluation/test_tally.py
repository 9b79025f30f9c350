"""Running, window and fading accuracy, and the choice of the lead."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from river import metrics
from river.utils import Rolling

from streamlin.evaluation.tally import Tally
from tests.evaluation.scored import PREDICTORS, REAL, Scored, cuts, real_stream, scored_streams
from tests.naive_metrics import NaiveAccuracy, leads

WINDOW, FADING = 5, 0.9


def measured(stream: Scored, at: list[int], window: int = WINDOW, leaders: int = 2) -> tuple[Tally, list[int]]:
    """The measure after a stream that came in batches, and every event's lead."""
    accuracy = Tally(stream.predicted.shape[0], window, FADING)
    lead = [
        accuracy.update(part.predicted, part.labels, part.weights, leaders).tolist()
        for part in stream.parts([cut for cut in at if cut < stream.labels.size])
    ]
    return accuracy, [chosen for part in lead for chosen in part]


def counted(stream: Scored, window: int = WINDOW) -> list[NaiveAccuracy]:
    labels, weights, predicted = stream.plain()
    twins = []
    for own in predicted:
        twin = NaiveAccuracy(window, FADING)
        for guess, label, weight in zip(own, labels, weights, strict=True):
            twin.count(guess, label, weight)
        twins.append(twin)
    return twins


def assert_equals_twins(accuracy: Tally, twins: list[NaiveAccuracy]) -> None:
    def column(values: Any) -> list[float]:
        return [np.nan if value is None else value for value in values]

    np.testing.assert_array_equal(accuracy.running(), column(twin.running for twin in twins))
    np.testing.assert_array_equal(accuracy.faded(), column(twin.faded for twin in twins))
    assert_allclose(accuracy.windowed(), column(twin.windowed for twin in twins), rtol=1e-12)
    assert accuracy.correct.tolist() == [twin.correct for twin in twins]
    assert accuracy.abstained.tolist() == [twin.abstained for twin in twins]
    assert accuracy.count[0] == len(twins[0].hits)


def test_three_events_by_hand() -> None:
    """Hits 1, 0, 1 of weights 1, 2, 1; window 2, fading 1/2:

    running  1/1, 1/3, 2/4
    window   1/1, 1/3, 1/3         the last two: (0 + 1) / (2 + 1)
    S        1, 0.5, 1.25          S <- w h + S/2
    N        1, 2.5, 2.25          N <- w + N/2;  S/N = 1, 1/5, 5/9
    """
    accuracy, seen = Tally(1, window=2, fading=0.5), []
    for guess, weight in [(0, 1.0), (1, 2.0), (0, 1.0)]:
        accuracy.update(np.array([[guess]], np.int32), np.zeros(1, np.int32), np.array([weight]), 1)
        seen.append([float(share[0]) for share in (accuracy.running(), accuracy.windowed(), accuracy.faded())])
    assert_allclose(seen, [[1, 1, 1], [1 / 3, 1 / 3, 1 / 5], [1 / 2, 1 / 3, 5 / 9]], rtol=1e-15)
    assert accuracy.correct.tolist() == [2]


@given(scored_streams(), cuts, st.integers(1, 7))
def test_equals_its_twin(stream: Scored, at: list[int], window: int) -> None:
    accuracy, lead = measured(stream, at, window)
    assert_equals_twins(accuracy, counted(stream, window))
    labels, weights, predicted = stream.plain()
    assert lead == leads(predicted[:2], labels, weights)


@pytest.mark.parametrize("name", REAL)
def test_equals_its_twin_on_real_labels(data: Path, name: str) -> None:
    stream = real_stream(data, name)
    accuracy, lead = measured(stream, [1, 8, 1008], window=1000, leaders=PREDICTORS)
    assert_equals_twins(accuracy, counted(stream, 1000))
    labels, weights, predicted = stream.plain()
    assert lead == leads(predicted, labels, weights)
    assert {0, 2} <= set(lead), "the best one does not always lead"


@pytest.mark.parametrize("name", REAL)
def test_running_and_window_equal_river(data: Path, name: str) -> None:
    """river rolls over events of weight 1."""
    stream = real_stream(data, name)
    stream.weights[:] = 1.0
    accuracy, _ = measured(stream, [700], window=500)
    labels, _, predicted = stream.plain()
    for m, own in enumerate(predicted):
        running, rolling = metrics.Accuracy(), Rolling(metrics.Accuracy, window_size=500)
        for label, guess in zip(labels, own, strict=True):
            if label is not None:
                running.update(label, guess)
                rolling.update(label, guess)
        assert accuracy.running()[m] == running.get()
        assert_allclose(accuracy.windowed()[m], rolling.get(), rtol=1e-12)


def test_weighted_accuracy_equals_river(data: Path) -> None:
    stream = real_stream(data, "trec-6")
    accuracy, _ = measured(stream, [])
    labels, weights, predicted = stream.plain()
    running = metrics.Accuracy()
    for label, guess, weight in zip(labels, predicted[0], weights, strict=True):
        if label is not None:
            running.update(label, guess, weight)
    assert_allclose(accuracy.running()[0], running.get(), rtol=1e-12)


@given(scored_streams(), cuts, st.integers(1, 7))
def test_batches_change_no_bit(stream: Scored, at: list[int], window: int) -> None:
    whole, lead = measured(stream, [], window)
    parts, lead_of_parts = measured(stream, at, window)
    assert lead == lead_of_parts
    for name, array in whole.state().items():
        assert array.tobytes() == parts.state()[name].tobytes(), name


@given(scored_streams(), st.integers(0, 30))
def test_restored_tally_continues_bit_identically(stream: Scored, at: int) -> None:
    whole, _ = measured(stream, [])
    before, after = list(stream.parts([min(at, stream.labels.size)]))
    first, _ = measured(before, [])
    second = Tally(PREDICTORS, WINDOW, FADING)
    second.restore(first.state())
    first.update(after.predicted, after.labels, after.weights, 2)
    second.update(after.predicted, after.labels, after.weights, 2)
    for name, array in whole.state().items():
        assert array.tobytes() == first.state()[name].tobytes() == second.state()[name].tobytes(), name


def test_restored_tally_shares_no_memory() -> None:
    first, second = Tally(1), Tally(1)
    second.restore(first.state())
    second.update(np.zeros((1, 3), np.int32), np.zeros(3, np.int32), np.ones(3), 1)
    assert first.count[0] == 0


def test_without_labels_accuracy_is_nan() -> None:
    accuracy = Tally(2)
    accuracy.update(np.zeros((2, 3), np.int32), np.full(3, -1, np.int32), np.ones(3), 2)
    for shares in (accuracy.running(), accuracy.windowed(), accuracy.faded()):
        assert np.isnan(shares).all()


def test_an_abstention_is_a_miss_and_counted() -> None:
    accuracy = Tally(1)
    accuracy.update(np.array([[-1, 0]], np.int32), np.zeros(2, np.int32), np.ones(2), 1)
    assert accuracy.running().tolist() == accuracy.windowed().tolist() == [0.5]
    assert accuracy.abstained.tolist() == [1]


def test_unseen_label_of_a_reference_counts_as_a_miss() -> None:
    accuracy = Tally(1)
    accuracy.update(np.array([[-2, -2]], np.int32), np.array([0, -1], np.int32), np.ones(2), 1)
    assert accuracy.running().tolist() == [0.0]
    assert (accuracy.correct[0], accuracy.abstained[0], accuracy.count[0]) == (0, 0, 1)


def test_lead_is_chosen_before_the_event_ties_to_the_first() -> None:
    """Both right, the second right, the first right (equal again), the third, no leader, always right."""
    accuracy = Tally(3)
    predicted = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], np.int32)
    assert accuracy.update(predicted, np.zeros(4, np.int32), np.ones(4), 2).tolist() == [0, 0, 1, 0]


def test_counts_stay_exact_beyond_float32() -> None:
    """2^24 + 2^20 labelled events, right every other time: float32 would have stopped at 2^24 / 2 hits of weight 2."""
    accuracy, size, batches = Tally(1, window=10), 1 << 20, 17
    predicted = np.tile(np.array([0, 1], np.int32), size // 2).reshape(1, -1)
    for _ in range(batches):
        accuracy.update(predicted, np.zeros(size, np.int32), np.full(size, 2.0), 1)
    assert accuracy.count[0] == batches * size > 2**24
    assert accuracy.correct[0] == batches * size // 2
    assert accuracy.hit_weights[0] == batches * size
    assert accuracy.totals[0] == 2 * batches * size
    accuracy.update(np.zeros((1, 1), np.int32), np.zeros(1, np.int32), np.ones(1), 1)
    assert accuracy.hit_weights[0] == batches * size + 1
    assert accuracy.running()[0] == (batches * size + 1) / (2 * batches * size + 1)
