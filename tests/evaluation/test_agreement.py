"""Kappa and F1."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from river import metrics
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from streamlin.evaluation.label_sums import LabelSums
from streamlin.evaluation.metrics import Kappa, KappaM, KappaTemporal, MacroF1, WeightedF1
from streamlin.evaluation.metrics.kappa import kappa
from streamlin.evaluation.report_details import label_rows
from streamlin.evaluation.spans import Span, Sums
from streamlin.evaluation.tally import Tally
from tests import naive_agreement
from tests.evaluation.computed import computed, sums_of
from tests.evaluation.scored import PREDICTORS, REAL, Scored, cuts, real_stream, scored_streams
from tests.naive_agreement import judged

FADING = 0.9
AGREEMENT = (Kappa, KappaM, KappaTemporal, MacroF1, WeightedF1)


class Counted:
    """A stream's accuracy and sums; the predictors before the last two are learners, those read no text."""

    def __init__(self, window: int) -> None:
        self.tally, self.sums = Tally(PREDICTORS, window, FADING), LabelSums(PREDICTORS, FADING)

    def count(self, stream: Scored, at: list[int]) -> "Counted":
        known = self.sums.label_sums.shape[0]
        for part in stream.parts([cut for cut in at if cut < stream.labels.size]):
            known = max(known, int(part.labels.max(initial=-1)) + 1, int(part.predicted.max(initial=-1)) + 1)
            self.tally.update(part.predicted, part.labels, part.weights, 1)
            self.sums.update(part.predicted, part.labels, part.weights, known)
        return self

    def rows(self) -> list[dict[str, Any]]:
        return computed(AGREEMENT, self.by_span())

    def by_span(self) -> dict[Span, Sums]:
        return sums_of(self.tally, PREDICTORS - 2, self.sums)

    def by_label(self, names: list[str]) -> list[dict[str, Any]]:
        return label_rows({span: sums.by_label for span, sums in self.by_span().items()}, names)


def seen(stream: Scored) -> Scored:
    """No prediction of a label that comes later, as there is none in a run."""
    known = np.maximum(np.maximum.accumulate(stream.labels) if stream.labels.size else stream.labels, -1)
    return Scored(
        stream.labels, stream.weights, np.where(stream.predicted > known, -2, stream.predicted).astype(np.int32)
    )


def _by_label(counted: Counted, known: Iterable[int]) -> list[dict[str, Any]]:
    return counted.by_label(list(map(str, known)))


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
    expected = {
        "a": {"precision": 1.0, "recall": 1 / 2, "f1": 2 / 3},
        "b": {"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3},
    }
    for label, own in counted.by_label(["a", "b"])[0].items():
        for key, value in expected[label].items():
            assert own[key] == own[f"window_{key}"] == value


def test_window_and_fading_f1_by_hand() -> None:
    """The same, the last three in the window: true b b b, said b b none. Fading, α = 0.9, event i has 0.9^(5 - i).

    window  F1 of b: 2 * 2 / (3 + 2) = 4/5; a is neither true nor said: macro and weighted are 4/5
    fading  a: hit 0.9^4, true 0.9^4 + 0.9^3, said 0.9^4;  b: hit 0.9^2 + 0.9, true that and 1, said that and 0.9^3
    """
    said = np.array([[0, 1, 1, 1, -1], [-1, 0, 0, 0, 1], [-1, 0, 0, 1, 1]], np.int32)
    counted = Counted(3).count(Scored(np.array([0, 0, 1, 1, 1], np.int32), np.ones(5), said), [])
    row, by_label = counted.rows()[0], counted.by_label(["a", "b"])[0]
    assert_allclose([row["window_macro_f1"], row["window_weighted_f1"]], 4 / 5, rtol=1e-12)
    first, second, third, fourth = 0.9**4, 0.9**3, 0.9**2, 0.9
    f1_a = 2 * first / (2 * first + second)
    f1_b = 2 * (third + fourth) / (2 * (third + fourth) + 1 + second)
    assert_allclose(row["fading_macro_f1"], (f1_a + f1_b) / 2, rtol=1e-12)
    share = (first + second) / (first + second + third + fourth + 1)
    assert_allclose(row["fading_weighted_f1"], share * f1_a + (1 - share) * f1_b, rtol=1e-12)
    assert [by_label["a"][f"window_{key}"] for key in ("precision", "recall", "f1")] == [0.0, 0.0, 0.0]
    assert [by_label["b"][f"window_{key}"] for key in ("precision", "recall")] == [1.0, 2 / 3]
    assert_allclose(by_label["a"]["fading_recall"], first / (first + second), rtol=1e-12)
    assert_allclose(by_label["b"]["fading_precision"], (third + fourth) / (second + third + fourth), rtol=1e-12)


def test_kappa_is_zero_where_chance_is_always_right() -> None:
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
    for own, rows in zip(predicted, _by_label(counted, known), strict=True):
        twin = naive_agreement.by_label_over_spans(judged(own, labels, weights), known, window, FADING)
        assert list(rows) == list(map(str, known))
        for k in known:
            assert_allclose(list(rows[str(k)].values()), list(twin[k].values()), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", REAL)
def test_equals_its_twin_on_real_labels(data: Path, name: str) -> None:
    stream = seen(real_stream(data, name))
    assert_equals_twin(Counted(500).count(stream, [1, 8, 1008]), stream, 500)


@pytest.mark.parametrize("name", REAL)
def test_kappa_and_f1_equal_scikit_learn_and_river(data: Path, name: str) -> None:
    """Abstentions are a label of their own to them, that has no F1."""
    stream = seen(real_stream(data, name))
    counted = Counted(500).count(stream, [700])
    by_label = _by_label(counted, range(counted.sums.label_sums.shape[0]))
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
            columns = precision_recall_fscore_support(labels[part], said[part], **(options | {"labels": known}))[:3]
            ours = [[own[f"{span}{key}"] for own in by_label[m].values()] for key in ("precision", "recall", "f1")]
            assert_allclose(ours, columns, rtol=1e-9)
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
    true, said, hits = sums.faded()
    assert_allclose(hits, said)
    assert_allclose(true / true.sum(), [0.5, 0.5], rtol=1e-12)
    assert_allclose(said[0] / said.sum(), [0.5, 0.5], rtol=1e-12)
