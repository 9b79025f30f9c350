"""Confusion counts."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.evaluation.confusion import Confusion
from streamlin.evaluation.tally import Tally
from tests.evaluation.scored import LABELS, PREDICTORS, REAL, Scored, cuts, real_stream, scored_streams
from tests.naive_metrics import confusion


def counted(stream: Scored, at: list[int], limit: int, n_labels: int = LABELS) -> Confusion:
    """Counts of a stream in batches; the number of labels grows with what the batches bring."""
    table, known = Confusion(PREDICTORS, limit), 0
    for part in stream.parts([cut for cut in at if cut < stream.labels.size]):
        known = min(n_labels, max(known, int(max(part.labels.max(initial=-1), part.predicted.max(initial=-1))) + 1))
        table.update(part.predicted, part.labels, known)
    return table


def named_confusion(stream: Scored, m: int, names: list[str], limit: int) -> dict[str, dict[str, int]]:
    labels, _, predicted = stream.plain()
    own = [None if guess is None else names[guess] for guess in predicted[m]]
    truth = [None if label is None else names[label] for label in labels]
    return confusion(own, truth, names, limit)  # type: ignore[return-value]  # its labels are these names


def test_five_events_by_hand() -> None:
    """Truth a, a, b, b, none; predicted a, b, abstained, b, a."""
    table = Confusion(1)
    table.update(np.array([[0, 1, -1, 1, 0]], np.int32), np.array([0, 0, 1, 1, -1], np.int32), 2)
    assert table.of(0, ["a", "b"]) == {"a": {"a": 1, "b": 1}, "b": {"(abstained)": 1, "b": 1}}


@given(scored_streams(), cuts, st.integers(1, LABELS + 1))
def test_equals_its_twin(stream: Scored, at: list[int], limit: int) -> None:
    names = ["a", "b", "c", "d"]
    table = counted(stream, at, limit)
    for m in range(PREDICTORS):
        assert table.of(m, names) == named_confusion(stream, m, names, limit)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("limit", [3, 200])
def test_equals_its_twin_on_real_labels(data: Path, name: str, limit: int) -> None:
    stream = real_stream(data, name)
    names = [f"label {code}" for code in range(int(stream.labels.max()) + 1)]
    table = counted(stream, [1, 8, 1008], limit, len(names))
    for m in range(PREDICTORS):
        assert table.of(m, names) == named_confusion(stream, m, names, limit)


@given(scored_streams(), cuts, st.integers(1, LABELS + 1), st.integers(1, 6))
def test_a_window_has_the_last_events(stream: Scored, at: list[int], limit: int, size: int) -> None:
    """Of the learners, which are but the first of those that are in the window."""
    names, accuracy = ["a", "b", "c", "d"], Tally(PREDICTORS + 1, size)
    accuracy.update(np.vstack([stream.predicted, stream.predicted[:1]]), stream.labels, stream.weights, 1)
    recent = counted(stream, at, limit).windowed(accuracy.window())
    (last,) = np.nonzero(stream.labels >= 0)
    part = Scored(stream.labels[last[-size:]], stream.weights[last[-size:]], stream.predicted[:, last[-size:]])
    for m in range(PREDICTORS):
        assert recent.of(m, names) == named_confusion(part, m, names, limit)


def test_labels_beyond_the_limit_are_counted_as_one() -> None:
    table = Confusion(1, limit=2)
    table.update(np.array([[0, 1, 2, 3, 3, -1]], np.int32), np.array([0, 2, 2, 3, 0, 3], np.int32), 4)
    assert table.of(0, list("abcd")) == {
        "a": {"a": 1, "(other)": 1},
        "(other)": {"b": 1, "(other)": 2, "(abstained)": 1},
    }
    assert table.counts.sum() == 6


def test_label_named_other_keeps_all_its_events() -> None:
    table = Confusion(1, limit=2)
    table.update(np.array([[0, 1, 2, -1]], np.int32), np.array([0, 0, 2, 2], np.int32), 3)
    assert table.of(0, ["(other)", "(abstained)", "c"]) == {"(other)": {"(other)": 2, "(abstained)": 2}}


@given(scored_streams(), cuts, st.integers(0, 30))
def test_batches_and_a_restore_change_nothing(stream: Scored, at: list[int], cut: int) -> None:
    names = ["a", "b", "c", "d"]
    before, after = stream.parts([min(cut, stream.labels.size)])
    resumed = Confusion(PREDICTORS, 3)
    resumed.restore(counted(before, at, 3).state())
    resumed.update(after.predicted, after.labels, LABELS)
    for m in range(PREDICTORS):
        assert resumed.of(m, names) == counted(stream, [], 3).of(m, names) == counted(stream, at, 3).of(m, names)


def test_counts_are_whole_numbers_past_two_to_the_24() -> None:
    table = Confusion(1)
    table.update(np.zeros((1, 1), np.int32), np.zeros(1, np.int32), 1)
    table.restore({"counts": table.counts * 2**24})
    table.update(np.zeros((1, 1), np.int32), np.zeros(1, np.int32), 1)
    assert table.of(0, ["a"]) == {"a": {"a": 2**24 + 1}}
