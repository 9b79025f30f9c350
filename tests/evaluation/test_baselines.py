"""What a learner has to beat."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import dummy

from streamlin.evaluation.baselines import Baselines
from tests.evaluation.scored import LABELS, REAL, Scored, cuts, named, real_stream, scored_streams
from tests.naive_metrics import majority, no_change


def predicted(stream: Scored, at: list[int], baselines: Baselines | None = None) -> list[list[int | None]]:
    """Both baselines' predictions for a stream in batches; labels become known batch by batch, as in a run."""
    baselines = baselines or Baselines()
    rows: list[list[int | None]] = [[], []]
    known = baselines.label_weights.size
    for part in stream.parts([cut for cut in at if cut < stream.labels.size]):
        known = max(known, int(part.labels.max(initial=-1)) + 1)
        out = np.empty((2, part.labels.size), np.int32)
        baselines.predict(part.labels, part.weights, known, out)
        for row, codes in zip(rows, out, strict=True):
            row += named(codes)
    return rows


def test_five_events_by_hand() -> None:
    """Labels 0, 1, 1, none, 0 of weights 2, 1, 1, 1, 1:

    majority   none, 0, 0 (2 to 1), 0 (2 to 2: seen first), 0
    no change  none, 0, 1, 1, 1 (no label changes nothing)
    """
    stream = Scored(np.array([0, 1, 1, -1, 0], np.int32), np.array([2.0, 1, 1, 1, 1]), np.zeros((0, 5), np.int32))
    assert predicted(stream, []) == [[None, 0, 0, 0, 0], [None, 0, 1, 1, 1]]


def test_the_majority_is_by_weight() -> None:
    stream = Scored(np.array([0, 1, 1, 1], np.int32), np.array([3.0, 2.0, 1.5, 1.0]), np.zeros((0, 4), np.int32))
    assert predicted(stream, [])[0] == [None, 0, 0, 1]


@given(scored_streams(), cuts)
def test_equal_their_twins(stream: Scored, at: list[int]) -> None:
    labels, weights, _ = stream.plain()
    assert predicted(stream, at) == [majority(labels, weights), no_change(labels)]


@pytest.mark.parametrize("name", REAL)
def test_equal_their_twins_and_river_on_real_labels(data: Path, name: str) -> None:
    stream = real_stream(data, name)
    stream.weights[:] = 1.0  # river's have none
    labels, weights, _ = stream.plain()
    ours = predicted(stream, [1, 8, 1008])
    assert ours == [majority(labels, weights), no_change(labels)]
    prior, last = dummy.PriorClassifier(), dummy.NoChangeClassifier()
    for i, label in enumerate(labels):
        assert [ours[0][i], ours[1][i]] == [prior.predict_one({}), last.predict_one({})], i
        if label is not None:
            prior.learn_one({}, label)
            last.learn_one({}, label)


@given(scored_streams(), st.integers(0, 29), st.integers(0, LABELS))
def test_an_events_label_does_not_reach_its_own_prediction(stream: Scored, at: int, other: int) -> None:
    if at >= stream.labels.size:
        return
    changed = Scored(stream.labels.copy(), stream.weights, stream.predicted)
    changed.labels[at] = min(other, stream.labels[:at].max(initial=-1) + 1)
    for ours, theirs in zip(predicted(stream, []), predicted(changed, []), strict=True):
        assert ours[: at + 1] == theirs[: at + 1]


@given(scored_streams(), cuts, st.integers(0, 30))
def test_batches_and_a_restore_change_no_bit(stream: Scored, at: list[int], cut: int) -> None:
    whole, parts, resumed = Baselines(), Baselines(), Baselines()
    expected = predicted(stream, [], whole)
    assert predicted(stream, at, parts) == expected
    before, after = stream.parts([min(cut, stream.labels.size)])
    first = Baselines()
    rows = predicted(before, [], first)
    resumed.restore(first.state())
    assert [row + rest for row, rest in zip(rows, predicted(after, [], resumed), strict=True)] == expected
    for name, array in whole.state().items():
        assert array.tobytes() == parts.state()[name].tobytes() == resumed.state()[name].tobytes(), name
