"""Accuracy for each value of a field."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.evaluation.slices import Slices
from streamlin.events import LabelIndex
from tests.evaluation.scored import PREDICTORS, REAL, Scored, cuts, real_stream, scored_streams
from tests.naive_metrics import slices

NAMES = [f"learner {m}" for m in range(PREDICTORS)]
Values = list[str | None]
values_of_thirty = st.lists(st.none() | st.sampled_from(["", "a", "b", "c", "ä"]), min_size=30, max_size=30)


def counted(stream: Scored, values: Values, at: list[int], limit: int) -> Slices:
    slices, begin = Slices(PREDICTORS, limit), 0
    for part in stream.parts([cut for cut in at if cut < stream.labels.size]):
        end = begin + part.labels.size
        slices.update(values[begin:end], part.predicted, part.labels, part.weights)
        begin = end
    return slices


def reported(stream: Scored, values: Values, limit: int) -> dict[str, dict[str, Any]]:
    """The twin's report."""
    labels, weights, predicted = stream.plain()
    found = slices(values[: len(labels)], predicted, labels, weights, limit)
    return {
        value: {"events": events} | {name: {"accuracy": share} for name, share in zip(NAMES, shares, strict=True)}
        for value, (events, shares) in found.items()
    }


def test_four_events_by_hand() -> None:
    """Field values x, x, y, none; label 0; predicted 0, 1, 0, 0 of weights 3, 1, 1, 1: x 3/4, y 1/1."""
    slices = Slices(1)
    slices.update(
        ["x", "x", "y", None], np.array([[0, 1, 0, 0]], np.int32), np.zeros(4, np.int32), np.array([3.0, 1, 1, 1])
    )
    assert slices.to_json(["nb"]) == {
        "x": {"events": 2, "nb": {"accuracy": 0.75}},
        "y": {"events": 1, "nb": {"accuracy": 1.0}},
    }


@given(scored_streams(), values_of_thirty, cuts, st.integers(1, 6))
def test_equals_its_twin(stream: Scored, values: Values, at: list[int], limit: int) -> None:
    assert counted(stream, values, at, limit).to_json(NAMES) == reported(stream, values, limit)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("limit", [5, 1000])
def test_equals_its_twin_on_real_labels(data: Path, name: str, limit: int) -> None:
    stream = real_stream(data, name)
    values: Values = [f"block {i // 250}" if i % 7 else None for i in range(stream.labels.size)]
    assert counted(stream, values, [1, 8, 1008], limit).to_json(NAMES) == reported(stream, values, limit)


def test_values_beyond_the_limit_and_other_are_counted_as_one() -> None:
    slices = Slices(1, limit=2)
    hits = np.zeros((1, 5), np.int32)
    hits[0, 3] = 1
    slices.update(["(other)", "a", "b", "c", "d"], hits, np.zeros(5, np.int32), np.ones(5))
    slices.update(["a", "(other)"], hits[:, :2], np.zeros(2, np.int32), np.ones(2))
    report = slices.to_json(["nb"])
    assert {value: row["events"] for value, row in report.items()} == {"a": 2, "b": 1, "(other)": 4}
    assert report["(other)"]["nb"]["accuracy"] == 0.75


def test_a_value_without_a_labelled_event_is_not_shown() -> None:
    slices = Slices(1)
    slices.update(["a", "b"], np.zeros((1, 2), np.int32), np.array([-1, 0], np.int32), np.ones(2))
    assert list(slices.to_json(["nb"])) == ["b"]


@given(scored_streams(), values_of_thirty, cuts, st.integers(0, 30))
def test_batches_and_a_restore_change_no_bit(stream: Scored, values: Values, at: list[int], cut: int) -> None:
    whole = counted(stream, values, [], 2)
    cut = min(cut, stream.labels.size)
    before, after = stream.parts([cut])
    first = counted(before, values, at, 2)
    resumed = Slices(PREDICTORS, 2)
    resumed.restore(first.state())
    resumed.values = LabelIndex(first.values.names)
    resumed.update(values[cut : stream.labels.size], after.predicted, after.labels, after.weights)
    parts = counted(stream, values, at, 2)
    assert whole.values.names == resumed.values.names == parts.values.names
    for name, array in whole.state().items():
        assert array.tobytes() == resumed.state()[name].tobytes() == parts.state()[name].tobytes(), name
