"""Everything that is counted about a stream, together."""

import json
import random
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from streamlin.config import EvaluationConfig
from streamlin.evaluation import Predictions, Prequential
from streamlin.evaluation.report import report_of
from streamlin.evaluation.wilson import Z_95
from streamlin.events import LabelIndex
from tests import naive_agreement, naive_metrics
from tests.evaluation.scored import REAL, assert_same_calibration, cuts, real_stream
from tests.naive_agreement import Judged
from tests.naive_metrics import NaiveAccuracy, NaiveCalibration

LEARNERS = ["first", "second"]
CALIBRATED = [False, True]
SPANS = ("", "window_", "fading_")
CONFIG = EvaluationConfig(
    window=4, fading=0.8, slice_by="field", references="other", confusion_labels=2, slice_values=2
)
Row = tuple[str | None, float, list[list[float]], str | None, str | None]
"""Label, weight, a score for each learner and label, the field's value, another's prediction."""

scores = st.lists(st.lists(st.sampled_from([-2.0, 0.0, 0.5, 3.0]), min_size=4, max_size=4), min_size=2, max_size=2)
rows = st.lists(
    st.tuples(
        st.none() | st.sampled_from("abcd"),
        st.sampled_from([1.0, 2.0, 0.3]),
        scores,
        st.none() | st.sampled_from("xyz"),
        st.none() | st.sampled_from(["a", "b", "unheard of"]),
    ),
    max_size=25,
)


class Run:
    """A measure and its labels; a label is a candidate from the event after its first one."""

    def __init__(self, config: EvaluationConfig = CONFIG) -> None:
        self.prequential, self.labels = Prequential(LEARNERS, config, CALIBRATED), LabelIndex()

    def step(self, batch: list[Row]) -> Predictions:
        known = np.array([len(self.labels)] * len(batch))
        codes = self.labels.learn([label for label, *_ in batch])
        known = np.maximum(known, np.maximum.accumulate(np.append(-1, codes))[:-1] + 1)
        shown = np.full((len(LEARNERS), len(batch), len(self.labels)), -np.inf)
        for i, (_, _, own, _, _) in enumerate(batch):
            shown[:, i, : known[i]] = np.array(own)[:, : known[i]]
        weights = np.array([weight for _, weight, *_ in batch])
        extra = {"field": [row[3] for row in batch], "other": [row[4] for row in batch]}
        self.prequential.events += len(batch)
        self.prequential.labelled += int((codes >= 0).sum())
        return self.prequential.predict_and_count(shown, codes, weights, self.labels, extra)

    def report(self) -> dict[str, Any]:
        return report_of(self.prequential, self.labels)

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any], list[str]]:
        arrays, rest = self.prequential.state()
        return arrays, json.loads(json.dumps(rest)), self.labels.names

    @classmethod
    def restored(cls, state: tuple[dict[str, NDArray[Any]], dict[str, Any], list[str]]) -> "Run":
        run = cls()
        run.prequential.restore(state[0], state[1])
        run.labels = LabelIndex(state[2])
        return run


def run_in_parts(stream: list[Row], at: list[int]) -> tuple[Run, list[list[Any]]]:
    """The run over batches, and its predictions, lead and confidences joined."""
    run, seen = Run(), []
    bounds = [0, *sorted(cut for cut in at if cut < len(stream)), len(stream)]
    for begin, end in pairwise(bounds):
        seen.append(run.step(stream[begin:end])[:4])
    joined = [np.concatenate(parts, axis=-1).tolist() for parts in zip(*seen, strict=True)]
    return run, joined


def plain_predictions(stream: list[Row]) -> tuple[list[list[str | None]], list[list[float]], list[NaiveCalibration]]:
    """Each learner's predictions, how sure it is of each (NaN: abstains), and what that is worth."""
    known: list[str] = []
    predicted: list[list[str | None]] = [[], []]
    sure: list[list[float]] = [[], []]
    twins = [NaiveCalibration(calibrated, CONFIG.window, CONFIG.fading) for calibrated in CALIBRATED]
    for label, weight, own, _, _ in stream:
        n = len(known)
        if label is not None and label not in known:
            known.append(label)
        code = None if label is None else known.index(label)
        for m, learner_scores in enumerate(own):
            candidates = learner_scores[:n]
            k = naive_metrics.best(candidates)
            predicted[m].append(None if k is None else known[k])
            sure[m].append(twins[m].count(candidates, code, weight))
    return predicted, sure, twins


def expected_row(predicted: list[str | None], stream: list[Row]) -> dict[str, Any]:
    twin = NaiveAccuracy(CONFIG.window, CONFIG.fading)
    for guess, (label, weight, *_) in zip(predicted, stream, strict=True):
        twin.count(guess, label, weight)
    n = len(twin.hits)
    return {
        "accuracy": twin.running,
        "interval": naive_metrics.wilson(twin.correct, n, Z_95) if n else None,
        "correct": twin.correct,
        "window_accuracy": twin.windowed,
        "fading_accuracy": twin.faded,
        "abstained": twin.abstained,
    }


def expected_leader(events: list[list[Judged]]) -> int | None:
    hits = [sum(guess == label for label, guess, _ in own) for own in events[: len(LEARNERS)]]
    return hits.index(max(hits)) if events[0] else None


def expected_against(leader: int | None, m: int, events: list[list[Judged]]) -> dict[str, Any]:
    """The p of a predictor against the leader."""
    if leader is None or leader == m:
        return {"leader_p": None, "window_leader_p": None}
    parts = {"leader_p": slice(None), "window_leader_p": slice(-CONFIG.window, None)}
    return {
        key: naive_agreement.mcnemar(*naive_agreement.discordant(events[leader][part], events[m][part]))
        for key, part in parts.items()
    }


def assert_pairs_equal(ours: list[dict[str, Any]], events: list[list[Judged]]) -> None:
    """Every pair, in the order of learners, baselines, references."""
    names = [*LEARNERS, "majority", "no_change", "other"]
    assert [(row["first"], row["second"]) for row in ours] == list(combinations(names, 2))
    for row, (first, second) in zip(ours, combinations(events, 2), strict=True):
        counts = naive_agreement.discordant(first, second)
        assert (row["only_first"], row["only_second"]) == counts
        assert_allclose(row["p"], naive_agreement.mcnemar(*counts), rtol=1e-9)
        counts = naive_agreement.discordant(first[-CONFIG.window :], second[-CONFIG.window :])
        assert (row["window_only_first"], row["window_only_second"]) == counts
        assert_allclose(row["window_p"], naive_agreement.mcnemar(*counts), rtol=1e-9)


def assert_curve_equal(ours: dict[str, Any], said: list[list[str | None]], stream: list[Row]) -> None:
    """A short stream has a point behind every labelled event."""
    curves = [*ours["learners"].values(), *ours["baselines"].values()]
    for own, curve in zip(said, curves, strict=True):
        twin, running, windowed = NaiveAccuracy(CONFIG.window), [], []
        for guess, (label, weight, *_) in zip(own, stream, strict=True):
            twin.count(guess, label, weight)
            if label is not None:
                running.append(twin.running)
                windowed.append(twin.windowed)
        assert_allclose(curve["accuracy"], np.array(running, float), atol=6e-7)
        assert_allclose(curve["window_accuracy"], np.array(windowed, float), atol=6e-7)
        assert ours["labelled"] == list(range(1, len(running) + 1))


def assert_tables_equal(ours: dict[str, Any], twins: dict[Any, Any]) -> None:
    assert list(ours) == list(twins)
    for name, row in twins.items():
        assert_rows_equal(ours[name], row)


def assert_rows_equal(ours: dict[str, Any], twins: dict[str, Any]) -> None:
    assert ours.keys() == twins.keys()
    for key, value in twins.items():
        if isinstance(value, (float, tuple)):
            assert_allclose(ours[key], value, rtol=1e-9, atol=1e-12, err_msg=key)
        else:
            assert ours[key] == value, key


@given(rows, cuts)
def test_the_report_equals_that_of_the_twins(stream: list[Row], at: list[int]) -> None:
    run, (predicted, lead, sure, *_) = run_in_parts(stream, at)
    labels, weights = [row[0] for row in stream], [row[1] for row in stream]
    ours, certainty, calibrations = plain_predictions(stream)
    names = run.labels.names
    assert [[None if code < 0 else names[code] for code in own] for own in predicted] == ours
    assert lead == naive_metrics.leads(ours, labels, weights)
    assert_allclose(sure, [certainty[m][i] for i, m in enumerate(lead)], rtol=1e-10)
    report = run.report()
    baselines = {
        "majority": naive_metrics.majority(labels, weights),
        "no_change": naive_metrics.no_change(labels),
        "other": [row[4] for row in stream],
    }
    said = [*ours, *baselines.values()]
    events = [naive_agreement.judged(own, labels, weights) for own in said]
    leader = LEARNERS.index(report["leader"]) if report["leader"] else None
    assert leader == expected_leader(events)
    assert list(report["baselines"]) == list(baselines)
    for m, row in enumerate([*report["learners"].values(), *report["baselines"].values()]):
        row = dict(row)
        by_label = row.pop("by_label", None)
        assert (by_label is None) == (2 <= m < 4), "what reads no text has no such table"
        if by_label is not None:
            twin = naive_agreement.by_label_over_spans(events[m], names, CONFIG.window, CONFIG.fading)
            assert_tables_equal(by_label, twin)
        if m < len(LEARNERS):
            limit = CONFIG.confusion_labels
            assert row.pop("confusion") == naive_metrics.confusion(ours[m], labels, names, limit)
            recent = [i for i, label in enumerate(labels) if label is not None][-CONFIG.window :]
            assert row.pop("window_confusion") == naive_metrics.confusion(
                [ours[m][i] for i in recent], [labels[i] for i in recent], names, limit
            )
            assert_same_calibration({key: row.pop(key) for key in calibrations[m].report}, calibrations[m].report)
        expected = expected_row(said[m], stream) | naive_agreement.agreement(
            events[m], events[2], events[3], CONFIG.window, CONFIG.fading
        )
        assert_rows_equal(row, expected | expected_against(leader, m, events))
    assert_pairs_equal(report["pairs"], events)
    assert_curve_equal(report["curve"], said, stream)
    assert_tables_equal(report["label_shares"], naive_agreement.label_shares(events[0], names, CONFIG.window))
    assert {value: row["events"] for value, row in report["slices"]["field"].items()} == {
        value: events
        for value, (events, _) in naive_metrics.slices([row[3] for row in stream], ours, labels, weights, 2).items()
    }
    n = len(labels) - labels.count(None)
    assert (report["events"], report["labelled"], report["unlabelled"]) == (len(stream), n, len(stream) - n)
    assert report["labels"] == list(dict.fromkeys(label for label in labels if label is not None))
    json.dumps(report, allow_nan=False)


@given(rows, cuts, st.integers(0, 25))
def test_batches_and_a_restore_change_no_bit(stream: list[Row], at: list[int], cut: int) -> None:
    whole, seen = run_in_parts(stream, [])
    parts, seen_in_parts = run_in_parts(stream, at)
    np.testing.assert_equal(seen_in_parts, seen)
    first, _ = run_in_parts(stream[:cut], at)
    resumed = Run.restored(first.state())
    resumed.step(stream[cut:])
    arrays, rest, names = whole.state()
    for other in (parts, resumed):
        other_arrays, other_rest, other_names = other.state()
        assert (other_rest, other_names) == (rest, names)
        assert other_arrays.keys() == arrays.keys()
        for name, array in arrays.items():
            assert array.shape == other_arrays[name].shape, name
            assert array.tobytes() == other_arrays[name].tobytes(), name
        assert other.report() == whole.report()


@pytest.mark.parametrize("name", REAL)
def test_batches_and_a_restore_change_no_bit_on_real_labels(data: Path, name: str) -> None:
    labels, weights, predicted = real_stream(data, name, 1500).plain()
    names = [f"label {code}" for code in range(200)]
    chance = random.Random(0)

    def row(i: int) -> Row:
        label = labels[i]
        own = [[chance.random() for _ in range(20)] for _ in LEARNERS]
        own[1][predicted[2][i] % 20 if predicted[2][i] is not None else 0] += 2  # type: ignore[operator]
        text = None if label is None else names[label % 20]
        return text, weights[i], own, f"block {i // 500}", names[predicted[1][i] or 0]

    stream = [row(i) for i in range(len(labels))]
    whole, seen = run_in_parts(stream, [])
    parts, seen_in_parts = run_in_parts(stream, [*range(7, 700, 7), 1001])
    np.testing.assert_equal(seen_in_parts, seen)
    resumed = Run.restored(run_in_parts(stream[:777], [3])[0].state())
    resumed.step(stream[777:])
    assert whole.report() == parts.report() == resumed.report()
    assert whole.report()["learners"]["second"]["correct"] > 300


def test_reference_by_hand() -> None:
    """Labels a, a, b, none; another says a (hit), nothing (abstains), `new` (unheard of: a miss), a (not counted)."""
    run = Run()
    run.step([("a", 1.0, [[0.0] * 4] * 2, None, other) for other in ("a", None)])
    run.step([("b", 1.0, [[0.0] * 4] * 2, None, "new"), (None, 1.0, [[0.0] * 4] * 2, None, "a")])
    row = run.report()["baselines"]["other"]
    assert (row["correct"], row["abstained"]) == (1, 1)
    assert row["accuracy"] == 1 / 3


def test_reference_naming_an_unseen_label_misses_in_any_batching() -> None:
    """However the events are cut into batches it is a miss at first, then a hit."""
    stream: list[Row] = [("a", 1.0, [[0.0] * 4] * 2, None, "b"), ("b", 1.0, [[0.0] * 4] * 2, None, "b")]
    one, two = (run_in_parts(stream, at)[0].report()["baselines"]["other"] for at in ([], [1]))
    assert one == two
    assert (one["correct"], one["abstained"]) == (1, 0)


def test_configured_lead_is_used_even_if_worse() -> None:
    run = Run(CONFIG.model_copy(update={"lead": "second"}))
    stream: list[Row] = [("a", 1.0, [[1.0, 0, 0, 0], [0.0, 1, 0, 0]], None, None)] * 3
    seen = run.step([*stream, ("b", 1.0, *stream[0][2:]), *stream])
    assert seen.lead.tolist() == [1] * 7
    assert run.report()["learners"]["first"]["correct"] > run.report()["learners"]["second"]["correct"]
    assert run.prequential.predict(np.zeros((2, 1, 2))).lead.tolist() == [1]


def test_without_labels_all_metrics_are_null() -> None:
    run = Run()
    run.step([(None, 1.0, [[0.0] * 4] * 2, "x", "a")] * 3)
    report = run.report()
    for row in [*report["learners"].values(), *report["baselines"].values()]:
        for key, value in row.items():
            assert value in ([], {}, 0, None) or key == "reliability", key
    for row in report["learners"].values():
        assert [row[f"{span}{key}"] for span in SPANS for key in ("log_loss", "brier", "ece")] == [None] * 9
        assert row["reliability"] == [{"events": 0, "confidence": None, "accuracy": None}] * 10
    assert report["slices"] == {"field": {}}
    assert report_of(Prequential(LEARNERS, CONFIG), LabelIndex())["learners"]["first"]["accuracy"] is None


def test_the_first_event_is_an_abstention_and_wrong() -> None:
    run = Run()
    seen = run.step([("a", 1.0, [[0.0] * 4] * 2, None, None)])
    assert seen.predicted.tolist() == [[-1], [-1]]
    assert np.isnan(seen.confidences).all()
    row = run.report()["learners"]["first"]
    assert (row["accuracy"], row["abstained"], row["confusion"]) == (0.0, 1, {"a": {"(abstained)": 1}})


def test_predict_counts_nothing_and_uses_the_best_learner() -> None:
    run = Run()
    run.step([("a", 1.0, [[0.0] * 4] * 2, None, None), ("b", 1.0, [[0.0] * 4] * 2, None, None)])
    run.step([("b", 1.0, [[1.0, 0, 0, 0], [0.0, 1, 0, 0]], None, None)])
    before = run.report()
    seen = run.prequential.predict(np.array([[[0.0, 1.0]], [[2.0, 2.0]]]))
    assert (seen.predicted.tolist(), seen.lead.tolist(), seen.confidences.tolist()) == ([[1], [0]], [1], [0.5])
    assert run.report() == before


def test_keys_of_a_learners_row_are_in_order() -> None:
    report = Run().report()
    assert list(report["learners"]["first"]) == [
        *("accuracy", "interval", "correct", "window_accuracy", "fading_accuracy", "abstained"),
        *(
            f"{span}{figure}"
            for span in SPANS
            for figure in ("kappa", "kappa_m", "kappa_temporal", "macro_f1", "weighted_f1")
        ),
        *("leader_p", "window_leader_p"),
        *(f"{span}{figure}" for span in SPANS for figure in ("log_loss", "brier", "ece")),
        *("reliability", "by_label", "confusion", "window_confusion"),
    ]
    assert "log_loss" not in report["baselines"]["majority"]


def test_no_learner_is_calibrated_unless_told() -> None:
    assert Prequential(LEARNERS, CONFIG).calibration.calibrated.tolist() == [False, False]


def test_lean_metrics_equal_those_of_the_full_report() -> None:
    """Without the rest of the metrics; what is short leaves out what is long."""
    stream: list[Row] = [("ab"[i % 3 % 2], 1.0, [[0.5, i % 2, 0, 0], [1.0, 0, 0, 0]], "x", "a") for i in range(20)]
    whole, lean = Run(), Run(CONFIG.model_copy(update={"metrics": "accuracy"}))
    np.testing.assert_equal(lean.step(stream), whole.step(stream))
    report, short, alone = whole.report(), report_of(whole.prequential, whole.labels, details=False), lean.report()
    long = {"pairs", "curve", "label_shares"}
    assert report.keys() - short.keys() == long
    assert report.keys() - alone.keys() == long | {"leader", "drift", "inputs"}
    for name, row in alone["learners"].items():
        assert row.items() <= report["learners"][name].items()
        assert not [key for key in row if "kappa" in key or "f1" in key or key in ("by_label", "confusion")]
        assert {"log_loss", "brier", "ece"} <= row.keys()
        assert not {"window_log_loss", "fading_log_loss"} & row.keys()
    for name, row in short["learners"].items():
        assert report["learners"][name].keys() - row.keys() == {
            *("reliability", "by_label", "confusion", "window_confusion")
        }
        assert row.items() <= report["learners"][name].items()
    arrays, _, _ = lean.state()
    assert not [
        name for name in arrays if name.startswith(("sums", "pairs", "confusion", "drift", "inputs", "novelty"))
    ]


def test_early_reference_label_counts_alike_in_any_batching() -> None:
    stream: list[Row] = [("a", 1.0, [[0.0] * 4] * 2, None, "b"), ("b", 1.0, [[0.0] * 4] * 2, None, "b")]
    whole, parts = (run_in_parts(stream, at)[0] for at in ([], [1]))
    assert whole.report() == parts.report()
    assert set(whole.report()["baselines"]["other"]["by_label"]["b"].values()) == {1.0}


def test_overflowing_weights_give_null_without_warning() -> None:
    run = Run()
    run.step([("ab"[i % 2], 1e308, [[1.0, 0, 0, 0], [0.0, 1, 0, 0]], "x", "a") for i in range(8)])
    report = run.report()
    json.dumps(report, allow_nan=False)
    row = report["learners"]["first"]
    assert row["correct"] == 3
    assert row["kappa"] is row["weighted_f1"] is row["window_kappa"] is None
    assert report["label_shares"]["a"] == {"share": None, "window_share": None}
    assert None in report["curve"]["baselines"]["other"]["accuracy"]


def test_memory_does_not_grow_with_the_stream() -> None:
    """After 40,000 events and after 600,000, a change of accuracy every 4,000: the same arrays, a report as long."""
    prequential, labels = Prequential(LEARNERS, EvaluationConfig(window=100)), LabelIndex(["a", "b"])
    random, sizes, reports = np.random.default_rng(0), [], []
    for number in range(150):
        codes = random.integers(0, 2, 4000, np.int32)
        scores = random.normal(size=(2, 4000, 2))
        scores[:, np.arange(4000), codes] += 3 * (number % 2)
        prequential.predict_and_count(scores, codes, np.ones(4000), labels, {})
        if number in (9, 149):
            sizes.append(sum(array.nbytes for array in prequential.state()[0].values()))
            reports.append(report_of(prequential, labels))
    assert sizes[0] == sizes[1]
    assert reports[1]["drift"]["falls"] >= 2 * 74, "each learner at each fall"
    without_alarms = [report | {"drift": None} for report in reports]
    lengths = [len(json.dumps(report)) for report in without_alarms]
    assert lengths[1] < 1.3 * lengths[0]
