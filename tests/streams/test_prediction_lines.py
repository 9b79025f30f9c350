"""Predictions as JSON lines."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamlin.evaluation import Predictions
from streamlin.events import Batch, LabelIndex, single_records
from streamlin.streams.prediction_lines import PredictionLines
from tests.naive_metrics import prediction_line

NAMES = ["naive_bayes", 'my "own" \\ one', "ünï"]
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["", '"', "\\", '\\"', '"\\', "\\\\", "\n\r\t\b\f\0\x1f\x7f", "é", "日本", "😀", "\u2028", "\ufeff", "</script>"]
)
names = texts.filter(bool)
confidence = st.floats(0, 1) | st.sampled_from(
    [0.0, 1.0, 0.5, 0.1, 1e-7, 4.9e-7, 5e-7, 0.9999994, 0.9999995, 0.9999999]
)
SHARE = re.compile(rb'"confidence": (?:null|([01]\.(?:0|\d{0,5}[1-9]))), "learners": \{')


def batch(ids: Sequence[str | None], labels: Sequence[str | None], part: str = "-") -> Batch:
    """Events made of every second record, so that record and event numbers differ."""
    n = len(ids)
    records = single_records([b"12345"] * (2 * n), part)
    columns = list(ids), [""] * n, list(labels), np.ones(n), np.full(n, np.nan)
    return Batch(*columns, {}, records, np.arange(1, 2 * n, 2))


def encoded(lines: PredictionLines, events: Batch, predicted: Any, lead: Any, sure: Any) -> list[bytes]:
    text, bounds = lines.encode(
        events,
        Predictions(
            predicted=np.array(predicted, np.int32),
            lead=np.array(lead, np.int32),
            confidences=np.array(sure, np.float64),
            baselines=np.empty((2, 0), np.int32),
            measures=np.empty((0, len(events))),
        ),
    )
    *rows, end = bytes(text).split(b"\n")
    assert end == b""
    assert [bytes(text[bounds[i] : bounds[i + 1]]) for i in range(len(events))] == [row + b"\n" for row in rows]
    return rows


@st.composite
def cases(
    draw: st.DrawFn,
) -> tuple[
    list[str], list[str], list[str | None], list[list[str | None]], list[int], list[float], list[str | None], str
]:
    """Learners, labels known, ids, predictions [L][n], leads, confidences, labels (some unknown), the part's name."""
    learners = NAMES[: draw(st.integers(1, 3))]
    known = draw(st.lists(names, unique=True, max_size=4))
    n = draw(st.integers(1, 6))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    guess = st.none() | st.sampled_from(known) if known else st.none()
    predicted = [column(guess) for _ in learners]
    lead = column(st.integers(0, len(learners) - 1))
    sure = [
        math.nan if predicted[m][i] is None else share
        for i, (m, share) in enumerate(zip(lead, column(confidence), strict=True))
    ]
    label = st.none() | names | (st.sampled_from(known) if known else st.none())
    return learners, known, column(st.none() | names), predicted, lead, sure, column(label), draw(names)


@settings(max_examples=300)
@given(cases())
def test_lines_equal_those_of_the_naive_implementation(case: Any) -> None:
    learners, known, ids, predicted, lead, sure, labels, part = case
    lines, index = PredictionLines(learners, LabelIndex(known)), LabelIndex(known)
    events = batch(ids, labels, part)
    rows = encoded(lines, events, [index.codes(own) for own in predicted], lead, sure)
    assert len(rows) == len(ids)
    for i, row in enumerate(rows):
        own = [guesses[i] for guesses in predicted]
        position = f"{part}:{6 * (2 * i + 1)}"
        twin = prediction_line(ids[i], position, learners, own, lead[i], sure[i], labels[i])
        assert json.loads(row) == twin
        assert list(json.loads(row)) == list(twin)
        assert SHARE.search(row), row


def one(share: float) -> str:
    """How a confidence is written."""
    row = encoded(PredictionLines(["a"], LabelIndex(["x"])), batch(["1"], [None]), [[0]], [0], [share])[0]
    return row.decode().split('"confidence": ')[1].split(",")[0]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1.0, "1.0"),
        (0.9999999, "1.0"),
        (0.9999995, "1.0"),
        (0.9999994, "0.999999"),
        (0.98, "0.98"),
        (0.5, "0.5"),
        (0.100001, "0.100001"),
        (1 / 3, "0.333333"),
        (2 / 3, "0.666667"),
        (5e-7, "0.000001"),
        (4e-7, "0.0"),
        (0.0, "0.0"),
        (math.nan, "null"),
    ],
)
def test_a_confidence_has_one_to_six_decimals(share: float, text: str) -> None:
    assert one(share) == text


def test_lines_have_the_documented_text() -> None:
    """As shown in the documentation."""
    lines = PredictionLines(["naive_bayes", "perceptron"], LabelIndex(["ham", "spam"]))
    rows = encoded(lines, batch(["42", None], ["spam", None], "in.txt"), [[1, -1], [0, 1]], [0, 0], [0.98, math.nan])
    assert rows == [
        b'{"id": "42", "predicted": "spam", "confidence": 0.98, '
        b'"learners": {"naive_bayes": "spam", "perceptron": "ham"}, "label": "spam"}',
        b'{"position": "in.txt:18", "predicted": null, "confidence": null, '
        b'"learners": {"naive_bayes": null, "perceptron": "spam"}}',
    ]


def test_the_confidence_of_overflowed_scores_is_null() -> None:
    """Scores of infinity have a best label, but their softmax is no number."""
    row = encoded(PredictionLines(["a"], LabelIndex(["x"])), batch(["1"], ["x"]), [[0]], [0], [math.nan])[0]
    assert json.loads(row) == {"id": "1", "predicted": "x", "confidence": None, "learners": {"a": "x"}, "label": "x"}


def test_labels_that_appear_later_are_written() -> None:
    index = LabelIndex()
    lines = PredictionLines(["a"], index)
    first = encoded(lines, batch(["1", "2"], ["x", "y"]), [[-1, -1]], [0, 0], [math.nan] * 2)
    index.learn(["y", "x"])
    second = encoded(lines, batch(["3", "4"], ["x", "z"]), [[0, 1]], [0, 0], [1.0, 1.0])
    assert [json.loads(row)["label"] for row in first + second] == ["x", "y", "x", "z"]
    assert [json.loads(row)["predicted"] for row in first + second] == [None, None, "y", "x"]


def test_long_labels_ids_and_names_fit_the_buffer() -> None:
    long = ['"' * 70_000, "é" * 70_000, "x" * 1_000_000]
    lines = PredictionLines([long[0], "b", long[1]], LabelIndex(long))
    rows = encoded(
        lines,
        batch([long[2], None, "3"], [long[0], "\\" * 100_000, None], long[1]),
        [[0, 1, 2], [2, 2, 2], [1, 0, -1]],
        [1, 0, 2],
        [0.5, 1, math.nan],
    )
    seen = [json.loads(row) for row in rows]
    assert [line.get("label") for line in seen] == [long[0], "\\" * 100_000, None]
    assert [line["predicted"] for line in seen] == [long[2], long[1], None]
    assert seen[0]["id"] == long[2]
    assert seen[1]["position"] == f"{long[1]}:18"
    assert seen[2]["learners"] == {long[0]: long[2], "b": long[2], long[1]: None}


def test_a_file_name_that_is_not_utf8_is_escaped() -> None:
    """Python holds such bytes as lone surrogates, which JSON in UTF-8 can't represent."""
    row = encoded(
        PredictionLines(["a"], LabelIndex()), batch([None], [None], "logs/caf\udce9.txt"), [[-1]], [0], [math.nan]
    )[0]
    assert json.loads(row)["position"] == "logs/caf\\xe9.txt:6"


def test_a_batch_without_events_has_no_lines() -> None:
    assert encoded(PredictionLines(["a"], LabelIndex(["x"])), batch([], []), np.zeros((1, 0)), [], []) == []
