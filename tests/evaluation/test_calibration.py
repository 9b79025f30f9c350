"""Probabilities from scores, and how good they are."""

import json
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from river import metrics
from sklearn.metrics import brier_score_loss, log_loss

from streamlin.evaluation.calibration import Calibration
from streamlin.evaluation.metrics.losses import Brier, CalibrationError, LogLoss
from streamlin.evaluation.predictions import predict
from streamlin.evaluation.tally import Tally
from streamlin.events import LabelIndex
from streamlin.features import View
from streamlin.features.rows import RowIndex
from streamlin.learners import KINDS, learn_labels
from tests.evaluation.computed import computed, sums_of
from tests.evaluation.scored import assert_same_calibration, cuts, named
from tests.naive_metrics import NaiveCalibration, best
from tests.sample_streams import read_events

Event = tuple[list[float], int | None, float]
"""Scores of the candidates, label, weight."""
CLIPPED = -log(1e-15)
WINDOW, FADING = 7, 0.9


class Run:
    """One learner's probabilities; the confidences it gave out."""

    def __init__(self, calibrated: bool = False, window: int = WINDOW, fading: float = FADING) -> None:
        self.calibration, self.tally = Calibration([calibrated], window, fading), Tally(1, window)
        self.confidences: list[float] = []

    def scores(self, scores: NDArray[np.float64], labels: NDArray[np.int32], weights: NDArray[np.float64]) -> "Run":
        predicted = np.empty((1, labels.size), np.int32)
        predict(scores[None], predicted)
        lead = np.zeros(labels.size, np.int32)
        counted = int(self.tally.count[0])
        self.tally.update(predicted, labels, weights, 1)
        self.confidences += self.calibration.update(scores[None], predicted, lead, labels, weights, counted).tolist()
        return self

    def events(self, events: Sequence[Event]) -> "Run":
        """All of them in one batch."""
        size = max((max(len(own), (label or 0) + 1) for own, label, _ in events), default=0)
        scores = np.full((len(events), size), -np.inf)
        for row, (own, _, _) in zip(scores, events, strict=True):
            row[: len(own)] = own
        labels = np.array([-1 if label is None else label for _, label, _ in events], np.int32)
        return self.scores(scores, labels, np.array([weight for _, _, weight in events], np.float64))

    @property
    def report(self) -> dict[str, Any]:
        sums = sums_of(self.tally, 1, calibration=self.calibration)
        lean = not self.calibration.recent.shape[1]
        row = computed((LogLoss, Brier, CalibrationError), sums, lean)[0]
        return row | {"reliability": self.calibration.reliability()[0]}

    @property
    def state(self) -> dict[str, bytes]:
        return {name: array.tobytes() for name, array in self.calibration.state().items()}


def logs(*shares: float) -> list[float]:
    return [log(share) for share in shares]


def in_batches(events: list[Event], at: list[int], calibrated: bool) -> Run:
    run, bounds = Run(calibrated), [0, *sorted(cut for cut in at if cut < len(events)), len(events)]
    for begin, end in pairwise(bounds):
        run.events(events[begin:end])
    return run


score = st.sampled_from([-2.0, 0.0, 0.5, 3.0]) | st.floats(-100, 100).map(lambda value: round(value, 3))
streams = st.lists(
    st.tuples(
        st.lists(score, max_size=4),
        st.none() | st.integers(0, 4),
        st.sampled_from([1.0, 2.0, 0.3]) | st.floats(0.01, 9),
    ),
    max_size=25,
)


@given(streams, cuts, st.booleans())
def test_equals_its_twin(events: list[Event], at: list[int], calibrated: bool) -> None:
    run, twin = in_batches(events, at, calibrated), NaiveCalibration(calibrated, WINDOW, FADING)
    sure = [twin.count(own, label, weight) for own, label, weight in events]
    assert_allclose(run.confidences, sure, rtol=1e-9)
    assert_same_calibration(run.report, twin.report)


@given(streams, cuts, st.booleans())
def test_batches_change_no_bit(events: list[Event], at: list[int], calibrated: bool) -> None:
    whole, parts = (in_batches(events, some, calibrated) for some in ([], at))
    assert_array_equal(parts.confidences, whole.confidences)
    assert parts.state == whole.state


@given(streams, st.integers(-20, 20))
def test_the_unit_of_scores_does_not_matter(events: list[Event], exponent: int) -> None:
    """Times a power of two not a bit changes."""
    scaled = [([value * 2.0**exponent for value in own], label, weight) for own, label, weight in events]
    assert_array_equal(Run().events(scaled).confidences, Run().events(events).confidences)


def test_losses_by_hand() -> None:
    """Probabilities (0.95, 0.05), (0.95, 0.05), (0.45, 0.55); labels 0, 1, 1; weights 1, 1, 2:

    log loss  (-log 0.95 - log 0.05 - 2 log 0.55) / 4
    Brier     (2 * 0.05^2 + 2 * 0.95^2 + 2 * 2 * 0.45^2) / 4
    bins      [0.5, 0.6): confidence 0.55, accuracy 1, weight 2;  [0.9, 1]: 0.95, 1/2, 2
    ECE       (2 * 0.45 + 2 * 0.45) / 4
    """
    run = Run(calibrated=True)
    run.events([(logs(0.95, 0.05), 0, 1.0), (logs(0.95, 0.05), 1, 1.0), (logs(0.45, 0.55), 1, 2.0)])
    report = run.report
    assert_allclose(run.confidences, [0.95, 0.95, 0.55], rtol=1e-12)
    assert_allclose(report["log_loss"], -(log(0.95) + log(0.05) + 2 * log(0.55)) / 4, rtol=1e-12)
    assert_allclose(report["brier"], (2 * 0.05**2 + 2 * 0.95**2 + 4 * 0.45**2) / 4, rtol=1e-12)
    assert_allclose(report["ece"], 0.45, rtol=1e-12)
    empty = [0, None, None]
    table = [list(row.values()) for row in report["reliability"]]
    assert [row for b, row in enumerate(table) if b not in (5, 9)] == [empty] * 8
    assert_allclose([table[5], table[9]], [[1, 0.55, 1.0], [2, 0.95, 0.5]], rtol=1e-12)


def test_window_and_fading_losses_by_hand() -> None:
    """The same events; a window of the last two, of weights 1 and 2; α = 1/2, so that weights are 1/4, 1/2 and 2:

    bins, window   [0.5, 0.6): 0.55, 1, weight 2;  [0.9, 1]: 0.95, 0, 1;    ECE (2 * 0.45 + 0.95) / 3
          fading   [0.5, 0.6): 0.55, 1, weight 2;  [0.9, 1]: 0.95, 1/3, 3/4;    (2 * 0.45 + 3/4 * 0.95 - 1/4) / 2.75
    """
    run = Run(True, window=2, fading=0.5)
    run.events([(logs(0.95, 0.05), 0, 1.0), (logs(0.95, 0.05), 1, 1.0), (logs(0.45, 0.55), 1, 2.0)])
    report = run.report
    assert_allclose(report["window_log_loss"], -(log(0.05) + 2 * log(0.55)) / 3, rtol=1e-12)
    assert_allclose(report["fading_log_loss"], -(log(0.95) / 4 + log(0.05) / 2 + 2 * log(0.55)) / 2.75, rtol=1e-12)
    assert_allclose(report["window_brier"], (2 * 0.95**2 + 4 * 0.45**2) / 3, rtol=1e-12)
    assert_allclose(report["fading_brier"], (0.05**2 / 2 + 0.95**2 + 4 * 0.45**2) / 2.75, rtol=1e-12)
    assert_allclose(report["window_ece"], (0.9 + 0.95) / 3, rtol=1e-12)
    assert_allclose(report["fading_ece"], (0.9 + 0.75 * 0.95 - 0.25) / 2.75, rtol=1e-12)


def test_without_a_window_only_running_losses_are_reported() -> None:
    events: list[Event] = [(logs(0.95, 0.05), label, 1.0) for label in (0, 1, 0)]
    lean, whole = (Run(True, window=window).events(events) for window in (0, 3))
    assert not lean.calibration.recent.size
    assert list(lean.report) == ["log_loss", "brier", "ece", "reliability"]
    assert lean.report.items() <= whole.report.items()


def test_fading_sums_stay_in_range() -> None:
    """α = 0.5: 400 events would be a factor of 2^400; half the weight lies on the last event."""
    run = Run(True, fading=0.5).events([(logs(0.95, 0.05), 0, 1.0)] * 400 + [(logs(0.45, 0.55), 1, 1.0)])
    assert run.calibration.scales[0] <= 1e100
    assert_allclose(run.report["fading_log_loss"], -(log(0.95) + log(0.55)) / 2, rtol=1e-12)
    assert_allclose(run.report["fading_ece"], (0.05 + 0.45) / 2, rtol=1e-12)


def test_two_temperatures_by_hand() -> None:
    """Scores (1, -1), label 0: q = 1, nothing was seen before, so z = (1, -1), p_0 = 1 / (1 + e^-2); the first step of
    Adagrad is 0.1 whatever its slope: t = 0.1. S / N = 1. Scores (3, -3): z_0 - z_1 = 6 e^0.1.
    """
    run = Run().events([([1.0, -1.0], 0, 1.0), ([3.0, -3.0], None, 1.0)])
    assert_allclose(run.confidences, [1 / (1 + exp(-2)), 1 / (1 + exp(-6 * exp(0.1)))], rtol=1e-9)
    assert_allclose(run.calibration.temperatures[0, [0, 2, 3]], [0.1, 1, 1], rtol=1e-9)


def test_unpredictable_label_has_probability_0_and_is_not_learned() -> None:
    """An abstention, of Brier 1; then the one label known, 1 of it, but another comes: 1 + 1."""
    run = Run().events([([], 0, 1.0)])
    assert np.isnan(run.confidences).all()
    assert_allclose([run.report["log_loss"], run.report["brier"]], [CLIPPED, 1], rtol=1e-12)
    assert run.report["ece"] is None
    run.events([([0.3], 1, 1.0), ([0.3], 0, 2.0)])
    assert run.confidences[1:] == [1.0, 1.0]
    assert_allclose([run.report["log_loss"], run.report["brier"]], [CLIPPED / 2, 3 / 4], rtol=1e-12)
    assert_allclose(run.report["ece"], 1 / 3, rtol=1e-12)
    assert not run.calibration.temperatures.any()
    run.events([([2.0, 1.0], 2, 1.0)])
    assert not run.calibration.temperatures.any()


@given(streams, streams)
def test_event_without_label_changes_nothing(events: list[Event], more: list[Event]) -> None:
    run = Run().events(events)
    before = run.state
    run.events([(own, None, weight) for own, _, weight in more])
    assert run.state == before


@pytest.mark.parametrize("own", [[np.inf, 0.0], [1e200, -1e200], [np.nan, 1.0], [0.0, np.inf, np.inf]])
def test_overflowed_scores_have_no_confidence_and_are_not_learned(own: list[float]) -> None:
    run = Run().events([([2.0, 1.0], 0, 1.0)])
    before = run.calibration.temperatures.copy()
    run.events([(own, 0, 1.0)])
    assert np.isnan(run.confidences[1])
    assert_array_equal(run.calibration.temperatures, before)
    assert sum(row["events"] for row in run.report["reliability"]) == 1
    assert run.report["log_loss"] > CLIPPED / 2


@pytest.mark.parametrize("calibrated", [False, True])
def test_scores_far_apart_give_confidence_1_without_warning(calibrated: bool) -> None:
    far = [([1e100, -1e100], 0, 1.0), ([1e150, -1e150], 0, 1.0)]
    run = Run(calibrated).events(far[:1] if calibrated else [([1.0, -1.0], 0, 1.0), *far[:1]])
    assert run.confidences[-1] == 1.0


def test_overflowing_weights_still_give_a_json_report() -> None:
    """A weight of 1e308 may come."""
    run = Run().events([([2.0, 1.0], label, 1e308) for label in (0, 1, 0, 0)])
    json.dumps(run.report, allow_nan=False)
    assert run.report["ece"] is None


def drawn(n: int, n_labels: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Log-probabilities, and labels that they are the truth of."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(n_labels, 0.5), n)
    labels = (shares.cumsum(axis=1) < random.random((n, 1))).sum(axis=1).clip(max=n_labels - 1)
    return np.log(shares), labels.astype(np.int32)


@pytest.mark.parametrize("n_labels", [2, 5, 40])
def test_calibrated_learner_has_a_small_ece(n_labels: int) -> None:
    """The truth itself; and scores a hundred times too sure, once their temperature is learned."""
    scores, labels = drawn(20_000, n_labels)
    truth = Run(calibrated=True).scores(scores, labels, np.ones(labels.size)).report
    assert truth["ece"] < 0.012
    late = slice(2000, None)
    too_sure = Run(calibrated=True).scores(100 * scores, labels, np.ones(labels.size)).report
    assert too_sure["ece"] > 0.15
    learned = Run().scores(100 * scores[:2000], labels[:2000], np.ones(2000))
    learned.calibration.sums[:], learned.calibration.bins[:], learned.calibration.events[:] = 0, 0, 0
    learned.scores(100 * scores[late], labels[late], np.ones(18_000))
    assert learned.report["ece"] < 0.025
    assert learned.report["log_loss"] < 1.03 * truth["log_loss"]


@cache
def real(path: Path, kind: str, n: int = 2000) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """A learner's scores of a real stream, each from before its event was learned, and the labels' codes."""
    events, index = read_events(path, n), LabelIndex()
    goals = learn_labels(index, [event.label for event in events], np.ones(n))
    rows, learner = RowIndex(20), KINDS[kind]()
    examples = rows.examples(View().of_texts([event.text for event in events]), goals.codes >= 0)
    learner.grow(len(rows), len(index))
    scores = np.empty((n, len(index)))
    learner.score_then_learn(examples, goals, scores)
    return scores, goals.codes


EVERY = pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sms-spam", "naive_bayes"),
        ("trec-6", "passive_aggressive"),
        ("clinc150", "logistic_regression"),
        ("reuters-topics", "perceptron"),
    ],
)


@EVERY
def test_equals_its_twin_and_river_on_a_real_stream(data: Path, name: str, kind: str) -> None:
    """With weights; river's binary log loss is told the label's own probability."""
    scores, labels = real(data / f"{name}.jsonl.gz", kind)
    weights = np.random.default_rng(0).choice([1.0, 1.0, 0.3, 2.5], labels.size)
    run, twin, rivers = Run(False, 500, 0.99), NaiveCalibration(False, 500, 0.99), metrics.LogLoss()
    run.scores(scores, labels, weights)
    for own, label, weight, sure in zip(scores.tolist(), named(labels), weights, run.confidences, strict=True):
        candidates = [value for value in own if value > -np.inf]
        shares = twin.probabilities(candidates) if candidates else []
        assert_allclose(max(shares, default=np.nan), sure, rtol=1e-7)
        if shares:
            assert best(shares) == best(candidates)
        assert label is not None
        rivers.update(True, shares[label] if label < len(shares) else 0.0, weight)
        twin.count(candidates, label, weight)
    assert_same_calibration(run.report, twin.report)
    assert_allclose(run.report["log_loss"], rivers.get(), rtol=1e-9)


@EVERY
def test_equals_scikit_learn_where_all_labels_are_known(data: Path, name: str, kind: str) -> None:
    scores, labels = real(data / f"{name}.jsonl.gz", kind)
    scores, labels = scores[1000:], labels[1000:]
    known = np.isfinite(scores[0])
    kept = known[labels]
    scores, labels = np.ascontiguousarray(scores[kept][:, known]), labels[kept]
    twin = NaiveCalibration()
    shares = []
    for own, label in zip(scores.tolist(), labels.tolist(), strict=True):
        shares.append(twin.probabilities(own))
        twin.count(own, label)
    report, codes = Run().scores(scores, labels, np.ones(labels.size)).report, range(scores.shape[1])
    shares = np.clip(shares, 1e-15, 1)
    shares /= shares.sum(axis=1, keepdims=True)
    assert_allclose(report["log_loss"], log_loss(labels, shares, labels=codes), rtol=1e-9)
    assert_allclose(report["brier"], brier_score_loss(labels, shares, labels=codes, scale_by_half=False), rtol=1e-9)


@EVERY
def test_temperature_brings_confidence_close_to_accuracy(data: Path, name: str, kind: str) -> None:
    scores, labels = real(data / f"{name}.jsonl.gz", kind)
    plain, tempered = (Run(as_it_is).scores(scores, labels, np.ones(labels.size)).report for as_it_is in (True, False))
    assert tempered["ece"] < max(0.05, 0.6 * plain["ece"])
    assert tempered["log_loss"] < plain["log_loss"]
