"""Streams of labels, weights and predictions as codes: made up by hypothesis, or of real labels."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

LABELS, PREDICTORS = 4, 3
REAL = ["sms-spam", "trec-6", "spamassassin", "clinc150"]


@dataclass
class Scored:
    """n events: labels int32[n], -1 for none; weights float64[n]; predicted int32[M, n], -1 for an abstention."""

    labels: NDArray[np.int32]
    weights: NDArray[np.float64]
    predicted: NDArray[np.int32]

    def parts(self, cuts: Sequence[int]) -> Iterator["Scored"]:
        """The stream in batches that end at `cuts` and at its end; some may be empty."""
        bounds = [0, *sorted(cuts), self.labels.size]
        for begin, end in pairwise(bounds):
            part = slice(begin, end)
            yield Scored(self.labels[part], self.weights[part], np.ascontiguousarray(self.predicted[:, part]))

    def plain(self) -> tuple[list[int | None], list[float], list[list[int | None]]]:
        """Labels, weights and each predictor's predictions as Python values, None for -1."""
        return named(self.labels), self.weights.tolist(), [named(row) for row in self.predicted]


def named(codes: NDArray[np.int32]) -> list[int | None]:
    return [None if code == -1 else code for code in codes.tolist()]


def in_order_of_sight(labels: Sequence[int | None]) -> dict[int, int]:
    """Label -> code, as a label index gives them."""
    return {label: code for code, label in enumerate(dict.fromkeys(label for label in labels if label is not None))}


@st.composite
def scored_streams(draw: st.DrawFn) -> Scored:
    """Labels are codes in order of first sight, as they are in a run."""
    weight = st.sampled_from([1.0, 1.0, 2.0, 0.1]) | st.floats(0.001, 1000)
    rows = st.tuples(
        st.none() | st.integers(0, LABELS - 1), weight, st.tuples(*[st.integers(-1, LABELS - 1)] * PREDICTORS)
    )
    events = draw(st.lists(rows, max_size=30))
    codes = in_order_of_sight([label for label, _, _ in events])
    labels = [-1 if label is None else codes[label] for label, _, _ in events]
    predicted = np.array([guesses for _, _, guesses in events], np.int32).reshape(-1, PREDICTORS).T
    return Scored(
        np.array(labels, np.int32), np.array([w for _, w, _ in events], np.float64), np.ascontiguousarray(predicted)
    )


cuts = st.lists(st.integers(0, 30), max_size=4)


def real_stream(data: Path, name: str, n: int = 3000) -> Scored:
    """A real stream's labels, a tenth of them hidden, and predictors that are right in 25, 50 and 90 % of it."""
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8", newline="\n") as lines:
        texts = [json.loads(line)["label"] for line in islice(lines, n)]
    random = np.random.default_rng(0)
    codes = in_order_of_sight(texts)
    truth = np.array([codes[text] for text in texts], np.int32)
    wrong = random.integers(-1, len(codes), (PREDICTORS, truth.size), np.int32)
    predicted = np.where(random.random(wrong.shape) < np.array([[0.25], [0.5], [0.9]]), truth, wrong)
    hidden = random.random(truth.size) < 0.1
    hidden[np.unique(truth, return_index=True)[1]] = False  # so that codes stay in order of sight
    return Scored(
        np.where(hidden, -1, truth).astype(np.int32), random.choice([1.0, 1.0, 0.3, 2.5], truth.size), predicted
    )


def assert_same_calibration(ours: dict[str, Any], twin: dict[str, Any]) -> None:
    """Two reports on probabilities: the same up to rounding, None where None."""
    assert list(ours) == list(twin)
    losses, expected = [[value for key, value in row.items() if key != "reliability"] for row in (ours, twin)]
    tables = [[list(row.values()) for row in report["reliability"]] for report in (ours, twin)]
    assert_allclose(np.array(losses, float), np.array(expected, float), rtol=1e-9, atol=1e-12)
    assert_allclose(np.array(tables[0], float), np.array(tables[1], float), rtol=1e-9, atol=1e-12)
