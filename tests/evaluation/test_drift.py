"""Alarms where the accuracy of a learner changes."""

import gzip
import json
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from river import drift
from river.drift.binary import DDM

from streamlin import AveragedPerceptron, NaiveBayes
from streamlin.config import EvaluationConfig
from streamlin.evaluation.adwin import Adwin
from streamlin.evaluation.detector import Detector
from streamlin.evaluation.drift import KEPT, Drift, describe_falls
from streamlin.evaluation.kswin import Kswin, p_value
from tests.naive_drift import NaiveAdwin, NaiveKswin, kolmogorov_smirnov

RIVERS = ["adwin", "page_hinkley", "ddm"]
"""Those whose alarms are river's."""
KINDS = [*RIVERS, "kswin"]
Errors = NDArray[np.bool_]


def rivers(kind: str) -> Any:
    made = {"adwin": drift.ADWIN, "page_hinkley": drift.PageHinkley, "ddm": DDM, "kswin": partial(drift.KSWIN, seed=1)}
    return made[kind]()


def alarms_of_river(kind: str, errors: Errors) -> list[int]:
    """Numbers of the events at which river's detector alarms."""
    detector, found = rivers(kind), []
    for i, error in enumerate(errors.tolist()):
        detector.update(int(error))
        if detector.drift_detected:
            found.append(i)
    return found


def ours(kind: str) -> Detector:
    made = Drift(["a", "b"], EvaluationConfig(drift=kind)).detector
    assert made is not None
    return made


def watched(detector: Detector, errors: list[Errors], cuts: list[int]) -> list[list[tuple[int, float, float]]]:
    """For each learner the events with an alarm, and accuracy before and behind."""
    found: list[list[tuple[int, float, float]]] = [[] for _ in errors]
    for begin, end in pairwise([0, *cuts, errors[0].size]):
        predicted = np.array([own[begin:end] for own in errors], np.int32)
        where, accuracies = detector.watch(predicted, np.zeros(end - begin, np.int32))
        assert where.tolist() == sorted(where.tolist())
        for (i, m), shares in zip(where.tolist(), accuracies.tolist(), strict=True):
            found[m].append((begin + i, *shares))
    return found


def made_up(seed: int, n: int = 6000) -> Errors:
    """Errors whose rate changes now and then, or drifts."""
    random = np.random.default_rng(seed)
    rates: list[NDArray[np.float64]] = []
    while sum(map(len, rates)) < n:
        begin, end = random.random(2) * random.choice([1, 0.1])
        length = int(random.integers(20, 3000))
        rates.append(np.full(length, begin) if random.random() < 0.7 else np.linspace(begin, end, length))
    return random.random(n) < np.concatenate(rates)[:n]


def real_errors(data: Path, name: str) -> list[Errors]:
    """Those of two learners on a stream of which the second half has been given the labels of another order."""
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8", newline="\n") as lines:
        events = [json.loads(line) for line in islice(lines, 6000)]
    texts, labels = [event["text"] for event in events], [event["label"] for event in events]
    names = sorted(set(labels))
    swapped = dict(zip(names, names[1:] + names[:1], strict=True))
    half = len(labels) // 2
    labels[half:] = [swapped[label] for label in labels[half:]]
    guesses = [learner.learn_many(texts, labels) for learner in (NaiveBayes(), AveragedPerceptron())]
    return [np.array([guess != label for guess, label in zip(own, labels, strict=True)]) for own in guesses]


@pytest.mark.parametrize("kind", RIVERS)
@pytest.mark.parametrize("seed", range(12))
def test_alarms_equal_river(kind: str, seed: int) -> None:
    errors = [made_up(2 * seed), made_up(2 * seed + 1)]
    found = watched(ours(kind), errors, [1, 500, 4321])
    for own, alarms in zip(errors, found, strict=True):
        assert [i for i, _, _ in alarms] == alarms_of_river(kind, own)


def test_the_made_up_errors_make_each_detector_alarm() -> None:
    for kind in RIVERS:
        assert sum(len(alarms_of_river(kind, made_up(seed))) for seed in range(24)) > 10


@pytest.mark.parametrize("kind", RIVERS)
@pytest.mark.parametrize("name", ["sms-spam", "trec-6", "clinc150", "spamassassin"])
def test_alarms_equal_river_on_real_errors(data: Path, kind: str, name: str) -> None:
    errors = real_errors(data, name)
    found = watched(ours(kind), errors, [700])
    assert [[i for i, _, _ in alarms] for alarms in found] == [alarms_of_river(kind, own) for own in errors]
    half = errors[0].size // 2
    assert any(before > after for i, before, after in found[0] if half <= i < half + 500), "the swap is noticed"


@st.composite
def parts_of_errors(draw: st.DrawFn) -> tuple[Errors, list[int]]:
    """Errors whose rate changes some times, and where they are cut into batches."""
    parts = draw(st.lists(st.tuples(st.integers(1, 400), st.sampled_from([0.0, 0.02, 0.1, 0.5, 0.9, 1.0])), max_size=6))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    errors = np.concatenate([np.zeros(0, np.bool_), *[random.random(n) < rate for n, rate in parts]])
    return errors, sorted(draw(st.lists(st.integers(0, errors.size), max_size=3)))


@given(parts_of_errors())
def test_adwin_equals_its_twin(stream: tuple[Errors, list[int]]) -> None:
    assert_equals_twin(Adwin(1, delta=0.1), NaiveAdwin(0.1), *stream)


@given(parts_of_errors(), st.sampled_from([(0.005, 100, 30), (0.05, 30, 15), (0.01, 40, 4), (0.2, 31, 29)]))
def test_kswin_equals_its_twin(stream: tuple[Errors, list[int]], parameters: tuple[float, int, int]) -> None:
    assert_equals_twin(Kswin(1, *parameters), NaiveKswin(*parameters), *stream)


def assert_equals_twin(detector: Detector, twin: NaiveAdwin | NaiveKswin, errors: Errors, cuts: list[int]) -> None:
    (found,) = watched(detector, [errors], cuts)
    expected = []
    for i, error in enumerate(errors.tolist()):
        shares = twin.add(int(error))
        if shares is not None:
            expected.append((i, *shares))
    assert [i for i, _, _ in found] == [i for i, _, _ in expected]
    assert_allclose(np.array(found).reshape(-1, 3), np.array(expected).reshape(-1, 3), atol=1e-12)


@pytest.mark.parametrize("sizes", [(30, 70), (70, 30), (20, 20), (1, 40), (7, 300)])
def test_kswin_p_equals_scipy(sizes: tuple[int, int]) -> None:
    """For every distance that shares of errors can have."""
    first, second = sizes
    gaps = {
        abs(a * second - b * first): kolmogorov_smirnov((first, a), (second, b))[1]
        for a in range(first + 1)
        for b in range(0, second + 1, max(1, second // 70))
        if a * second != b * first
    }
    assert len(gaps) > 18
    assert_allclose([p_value(first, second, gap) for gap in gaps], list(gaps.values()), rtol=1e-9)


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
def test_kswin_false_alarm_rate_is_at_most_alpha(rate: float) -> None:
    """Where errors are as frequent all the time; nor does river's."""
    steady = np.random.default_rng(int(100 * rate)).random(50_000) < rate
    found, _ = watched(ours("kswin"), [steady, steady], [])
    assert len(found) <= 0.005 * steady.size
    assert len(alarms_of_river("kswin", steady[:1500])) <= 0.005 * 1500


@pytest.mark.parametrize(("before", "behind"), [(0.05, 0.8), (0.2, 0.95), (0.9, 0.2)])
def test_kswin_finds_the_changes_that_river_finds(before: float, behind: float) -> None:
    """An abrupt change: the first alarm behind it comes before the newer part, of 30 events, is all from there."""
    errors = np.random.default_rng(1).random(700) < np.repeat([before, behind], [500, 200])
    found, _ = watched(ours("kswin"), [errors, errors], [])
    for alarms in ([i for i, _, _ in found], alarms_of_river("kswin", errors)):
        assert 500 < min(i for i in alarms if i >= 500) < 530
    (shares,) = [shares for i, *shares in found if 500 < i < 530]
    assert_allclose(shares[0], 1 - before, atol=0.1)
    assert (shares[1] < shares[0]) == (behind > before)


def test_kswin_alarms_where_enough_of_the_newer_part_are_wrong() -> None:
    """p of D = 11/30 is 0.0052, that of 12/30 0.0016: the twelfth error behind hits only, if a window is full."""
    errors = np.arange(600) >= 200
    (alarm, *_), (never, *_) = watched(ours("kswin"), [errors, np.arange(600) >= 88], [])
    assert alarm == (211, 1.0, 1 - 12 / 30)
    assert never == (99, 1.0, 1 - 12 / 30)


def test_page_hinkley_dates_the_change_to_where_it_began() -> None:
    """500 hits, then errors only: alarm when U has risen by 50; before it all was right, behind it nothing."""
    errors = np.arange(2000) >= 500
    (alarm, *_), _ = watched(ours("page_hinkley"), [errors, ~errors], [])
    assert 550 < alarm[0] < 600
    assert alarm[1:] == (1.0, 0.0)
    _, (alarm, *_) = watched(ours("page_hinkley"), [errors, ~errors], [])
    assert alarm[1:] == (0.0, 1.0)


def test_ddm_dates_the_change_to_the_warning() -> None:
    """Every tenth event is an error, from event 1,000 on every second one."""
    i = np.arange(3000)
    errors = np.where(i < 1000, i % 10 == 9, i % 2 == 1)
    (alarm, *_), _ = watched(ours("ddm"), [errors, errors], [])
    assert 1000 < alarm[0] < 1100
    assert_allclose(alarm[1], 0.9, atol=0.02)
    assert_allclose(alarm[2], 0.5, atol=0.1)


@pytest.mark.parametrize("kind", KINDS)
@given(st.lists(st.integers(0, 6000), max_size=4), st.integers(0, 6000))
def test_batches_and_a_restore_change_no_bit(kind: str, at: list[int], cut: int) -> None:
    errors = [made_up(1), made_up(4)]
    whole, resumed, first = ours(kind), ours(kind), ours(kind)
    seen = watched(whole, errors, [])
    before = watched(first, [own[:cut] for own in errors], sorted(c for c in at if c < cut))
    resumed.restore(first.state())
    after = watched(resumed, [own[cut:] for own in errors], [])
    for own, one, two in zip(seen, before, after, strict=True):
        assert own == [*one, *((cut + i, *shares) for i, *shares in two)]
    for name, array in whole.state().items():
        assert array.tobytes() == resumed.state()[name].tobytes(), name


def test_alarm_has_learner_position_and_accuracies() -> None:
    """Every third event has no label and counts nowhere; a is always right until event 3,000, b never."""
    labels = np.where(np.arange(6000) % 3 == 2, -1, 0).astype(np.int32)
    predicted = np.array([np.arange(6000) >= 3000, np.ones(6000)], np.int32)
    drift = Drift(["a", "b"], EvaluationConfig())
    found = drift.update(predicted, labels, 10_000, lambda i: f"file:{i}")
    assert [alarm["learner"] for alarm in found] == ["a"]
    (alarm,) = found
    at = int(alarm["position"].removeprefix("file:"))
    assert alarm["labelled"] == 10_000 + int((labels[: at + 1] == 0).sum())
    assert 3000 < at < 3100
    assert alarm["before"] == 1.0 > alarm["after"] > 0.0, "what is left of the window has hits too"
    assert drift.to_json() == {"alarms": 1, "falls": 1, "last_alarms": found}
    assert drift.update(predicted[:, :0], labels[:0], 0, None) == []


def test_falls_are_described_one_line_per_event() -> None:
    fall = {"learner": "a", "labelled": 50_048, "position": "x:7", "before": 0.774, "after": 0.375}
    better = fall | {"before": 0.1, "after": 0.2}
    other, later = fall | {"learner": "b"}, fall | {"labelled": 60_000, "position": None}
    assert describe_falls([fall, better, other, later]) == [
        "accuracy fell, seen at event 50,048 (x:7): a 77.4 to 37.5 %, b 77.4 to 37.5 %",
        "accuracy fell, seen at event 60,000: a 77.4 to 37.5 %",
    ]
    assert describe_falls([better]) == []


def test_the_last_alarms_are_kept_and_all_are_counted() -> None:
    """Right for 500 events, wrong for 500: each change is noticed, and what is kept is restored."""
    drift, batch = Drift(["a"], EvaluationConfig()), np.repeat([0, 1], 500).astype(np.int32)[np.newaxis]
    for number in range(80):
        drift.update(batch, np.zeros(1000, np.int32), 1000 * number, None)
    report = drift.to_json()
    assert len(report["last_alarms"]) == KEPT < report["alarms"]
    assert report["falls"] in (report["alarms"] // 2, report["alarms"] // 2 + 1)
    assert report["last_alarms"][-1]["labelled"] > 79_000
    again = Drift(["a"], EvaluationConfig())
    again.restore(json.loads(json.dumps(report)))
    assert again.to_json() == report


def test_drift_none_finds_nothing() -> None:
    drift = Drift(["a"], EvaluationConfig(drift="none"))
    assert drift.detector is None
    assert drift.update(np.ones((1, 100), np.int32), np.zeros(100, np.int32), 0, None) == []
    assert drift.to_json() == {"alarms": 0, "falls": 0, "last_alarms": []}


def test_adwin_window_of_many_events_needs_few_buckets() -> None:
    """5 (2^40 - 1) events without an error, then 64: there is room, and an error then is no change yet."""
    detector = Adwin(1)
    detector.numbers[0] = [0, 5 * (2**40 - 1), 0, 40]
    detector.counts[0, :40] = 5
    (found,) = watched(detector, [np.arange(64) == 63], [])
    assert found == []
    assert detector.numbers[0].tolist() == [0, 5 * (2**40 - 1) + 64, 1, 41]
    sizes = 2 ** np.arange(48)
    assert int(detector.counts[0] @ sizes) == detector.numbers[0, 1]
