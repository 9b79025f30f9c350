"""Kappa and F1."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from river import metrics
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from streamlin.evaluation.accuracy import Accuracy
from streamlin.evaluation.kappa import kappa
from streamlin.evaluation.label_sums import LabelSums
from streamlin.evaluation.rows import agreement_rows, label_rows
from tests import naive_agreement
from tests.evaluation.scored import PREDICTORS, REAL, Scored, cuts, real_stream, scored_streams
from tests.naive_agreement import judged

FADING = 0.9


class Counted:
    """A stream's accuracy and sums; the predictors before the last two are learners, those read no text."""

    def __init__(self, window: int) -> None:
        self.accuracy, self.sums = Accuracy(PREDICTORS, window, FADING), LabelSums(PREDICTORS, FADING)

    def count(self, stream: Scored, at: list[int]) -> "Counted":
        known = self.sums.label_sums.shape[0]
        for part in stream.parts([cut for cut in at if cut < stream.labels.size]):
            known = max(known, int(part.labels.max(initial=-1)) + 1, int(part.predicted.max(initial=-1)) + 1)
            self.accuracy.update(part.predicted, part.labels, part.weights, 1)
            self.sums.update(part.predicted, part.labels, part.weights, known)
        return self

    def rows(self) -> list[dict[str, Any]]:
        return agreement_rows(self.accuracy, self.sums, PREDICTORS - 2)


def seen(stream: Scored) -> Scored:
    """No prediction of a label that comes later, as there is none in a run."""
    known = np.maximum(np.maximum.accumulate(stream.labels) if stream.labels.size else stream.labels, -1)
    return Scored(
        stream.labels, stream.weights, np.where(stream.predicted > known, -2, stream.predicted).astype(np.int32)
    )


def assert_equals_twin(counted: Counted, stream: Scored, window: int) -> None:
    labels, weights, predicted = stream.plain()
    events = [judged(own, labels, weights) for own in predicted]
    for row, own in zip(counted.rows(), events, strict=True):
        twin = naive_agreement.agreement(own, events[-2], events[-1], window, FADING)
        assert row.keys() == twin.keys()
        for key, value in twin.items():
            if value is None:
                assert row[key] is None, key
            else:
                assert_allclose(row[key], value, rtol=1e-9, atol=1e-9, err_msg=key)


def test_five_events_by_hand() -> None:
    """True a a b b b, said a b b b none; so do majority, none a a a b, and no change, none a a b b.

    accuracy 3/5; the majority's 1/5, no change's 3/5
    P(true) 2/5, 3/5; P(said) 1/5, 3/5: pc = 2/25 + 9/25 = 11/25
    kappa (15 - 11) / (25 - 11) = 2/7;  kappa_m (3 - 2) / (5 - 2);  kappa_temporal 0
    F1 of a: 2 * 1 / (2 + 1) = 2/3, of b: 2 * 2 / (3 + 3) = 2/3
    """
    said = np.array([[0, 1, 1, 1, -1], [-1, 0, 0, 0, 1], [-1, 0, 0, 1, 1]], np.int32)
    stream = Scored(np.array([0, 0, 1, 1, 1], np.int32), np.ones(5), said)
    counted = Counted(10).count(stream, [])
    row = counted.rows()[0]
    expected = {"kappa": 2 / 7, "kappa_m": 1 / 3, "kappa_temporal": 0.0, "macro_f1": 2 / 3, "weighted_f1": 2 / 3}
    for key, value in expected.items():
        assert_allclose([row[key], row[f"window_{key}"]], value, atol=1e-15, err_msg=key)
    assert label_rows(counted.sums, ["a", "b"])[0] == {
        "a": {"precision": 1.0, "recall": 1 / 2, "f1": 2 / 3},
        "b": {"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3},
    }


def test_a_chance_that_is_always_right_leaves_nothing_to_gain() -> None:
    assert kappa(np.array([1.0, 0.5]), np.float64(1.0)).tolist() == [0.0, 0.0]
    assert kappa(np.array([0.5]), np.float64(1 - 1e-12)).tolist() == [0.0]
    assert np.isnan(kappa(np.array([np.nan]), np.float64(np.nan))).all()


@given(scored_streams(), cuts, st.integers(1, 7))
def test_equals_its_twin(stream: Scored, at: list[int], window: int) -> None:
    stream = seen(stream)
    counted = Counted(window).count(stream, at)
    assert_equals_twin(counted, stream, window)
    labels, weights, predicted = stream.plain()
    known = list(range(counted.sums.label_sums.shape[0]))
    for own, rows in zip(predicted, label_rows(counted.sums, list(map(str, known))), strict=True):
        twin = naive_agreement.by_label(judged(own, labels, weights), known)
        assert list(rows) == list(map(str, known))
        for k in known:
            assert_allclose(list(rows[str(k)].values()), list(twin[k].values()), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", REAL)
def test_equals_its_twin_on_real_labels(data: Path, name: str) -> None:
    stream = seen(real_stream(data, name))
    assert_equals_twin(Counted(500).count(stream, [1, 8, 1008]), stream, 500)


@pytest.mark.parametrize("name", REAL)
def test_equals_scikit_learns_and_rivers(data: Path, name: str) -> None:
    """Abstentions are a label of their own to them, that has no F1."""
    stream = seen(real_stream(data, name))
    counted = Counted(500).count(stream, [700])
    there, rows = stream.labels >= 0, counted.rows()
    labels, weights = stream.labels[there], stream.weights[there]
    known = list(range(int(labels.max()) + 1))
    for m, row in enumerate(rows):
        said = np.maximum(stream.predicted[m, there], -1)
        for span, part in (("", slice(None)), ("window_", slice(-500, None))):
            theirs = cohen_kappa_score(labels[part], said[part], sample_weight=weights[part])
            assert_allclose(row[f"{span}kappa"], theirs, rtol=1e-9, atol=1e-12)
            present = [k for k in known if k in labels[part] or k in said[part]]
            options = {"labels": present, "sample_weight": weights[part], "zero_division": 0.0}
            for average in ("macro", "weighted"):
                f1 = precision_recall_fscore_support(labels[part], said[part], average=average, **options)[2]
                assert_allclose(row[f"{span}{average}_f1"], f1, rtol=1e-9)
        columns = precision_recall_fscore_support(labels, said, labels=known, sample_weight=weights, zero_division=0.0)
        ours = label_rows(counted.sums, list(map(str, known)))[m]
        assert_allclose([list(own.values()) for own in ours.values()], np.array(columns[:3]).T, rtol=1e-9)
        theirs = [metrics.CohenKappa(), metrics.WeightedF1()]
        for label, guess, weight in zip(labels.tolist(), said.tolist(), weights.tolist(), strict=True):
            for metric in theirs:
                metric.update(label, guess, weight)
        assert_allclose([row["kappa"], row["weighted_f1"]], [metric.get() for metric in theirs], rtol=1e-9)


@given(scored_streams(), cuts, st.integers(0, 30))
def test_batches_and_a_restore_change_no_bit(stream: Scored, at: list[int], cut: int) -> None:
    stream = seen(stream)
    whole = Counted(5).count(stream, []).sums
    before, after = stream.parts([min(cut, stream.labels.size)])
    resumed = Counted(5)
    resumed.sums.restore(Counted(5).count(before, at).sums.state())
    resumed.count(after, [])
    for name, array in whole.state().items():
        assert array.tobytes() == resumed.sums.state()[name].tobytes(), name


def test_fading_sums_stay_in_range() -> None:
    """α = 0.5: 400 events would be a factor of 2^400; half the weight lies on the last event."""
    sums = LabelSums(1, 0.5)
    labels = np.array([0] * 400 + [1], np.int32)
    sums.update(labels[np.newaxis], labels, np.full(401, 1e10), 2)
    assert sums.scale[0] <= 1e100
    true, said = sums.fading_shares()
    assert_allclose(true / true.sum(), [0.5, 0.5], rtol=1e-12)
    assert_allclose(said[0] / said.sum(), [0.5, 0.5], rtol=1e-12)
