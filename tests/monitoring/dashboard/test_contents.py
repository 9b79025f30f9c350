"""What the page is given of a report."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamlin.config.loading import load_config
from streamlin.monitoring.dashboard.contents import contents
from streamlin.running.loop import Run
from tests.silent import Silent


def report_of(url: str, **flags: Any) -> dict[str, Any]:
    pipeline = Run(load_config(flags={"source.url": url} | flags, environment={}), Silent())
    try:
        return pipeline.run()
    finally:
        pipeline.close()


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """Of 3,000 events with 30 labels."""
    return report_of("synthetic://?events=3000&labels=30&seed=3", **{"evaluation.slice_by": ["label"]})


def test_rows_hold_the_values_of_the_report(report: dict[str, Any]) -> None:
    shown = contents(report, 1000)
    predictors = report["learners"] | report["baselines"]
    assert [row["name"] for row in shown["rows"]] == list(predictors)
    assert [row["learner"] for row in shown["rows"]] == [name in report["learners"] for name in predictors]
    for row in shown["rows"]:
        for key, value in row.items():
            if key not in ("name", "learner"):
                assert value == predictors[row["name"]][key]
    assert shown["counts"]["events"] == 3000
    assert shown["n_labels"] == 30
    json.dumps(shown, allow_nan=False)


def test_the_commonest_kinds_of_dead_letters_are_shown(report: dict[str, Any]) -> None:
    kinds = {"\x1bnot JSON": 5, "c": 3, "b": 2, "a": 1}
    shown = contents(report | {"dead_letters_by_kind": kinds}, 1000)
    assert shown["dead_letters_by_kind"] == [[" not JSON", 5], ["c", 3], ["b", 2]]
    assert contents(report, 1000)["dead_letters_by_kind"] == []


def test_a_series_of_the_curve_for_each_row(report: dict[str, Any]) -> None:
    shown = contents(report, 1000)
    curve = report["curve"]
    assert shown["curve"]["labelled"] == curve["labelled"]
    for row, running, windowed in zip(
        shown["rows"], shown["curve"]["accuracy"], shown["curve"]["window_accuracy"], strict=True
    ):
        series = curve["learners" if row["learner"] else "baselines"][row["name"]]
        assert (running, windowed) == (series["accuracy"], series["window_accuracy"])


@pytest.mark.parametrize(("span", "events"), [("", 3000), ("window_", 1000)])
def test_the_confusion_matrix_has_every_event_once(report: dict[str, Any], span: str, events: int) -> None:
    """Twelve labels and the rest; the diagonal of the twelve is the report's."""
    shown = contents(report, 1000)["confusion"]
    assert len(shown["labels"]) == 12
    for name, matrix in shown[f"{span}learners"].items():
        table = report["learners"][name][f"{span}confusion"]
        assert sum(map(sum, matrix)) == events
        assert [matrix[i][i] for i in range(12)] == [table[label].get(label, 0) for label in shown["labels"]]
        true, guess, count = shown[f"{span}mixups"][name][0]
        assert count == table[true][guess] > 0
        assert count == max(n for row, cells in table.items() for column, n in cells.items() if column != row)


def test_shares_and_slices_hold_the_most_frequent(report: dict[str, Any]) -> None:
    shown = contents(report, 1000)
    for column in (1, 2):
        assert sum(row[column] for row in shown["shares"]) == pytest.approx(1)
    assert shown["shares"][-1][0] == "others"
    shares = [share for _, share, _ in shown["shares"][:-1]]
    assert shares == sorted(shares, reverse=True)
    assert len(shares) == 20
    for span in ("", "window_"):
        for name, rows in shown["by_label"][f"{span}learners"].items():
            by_label = report["learners"][name]["by_label"]
            for (label, _, _), figures in zip(shown["shares"][:-1], rows, strict=True):
                own = [by_label[label][span + key] for key in ("precision", "recall", "f1")]
                assert figures == pytest.approx(own, abs=5e-5)
    assert len(shown["slices"]["label"]["values"]) == 20
    assert shown["slices"]["label"]["more"] == 10
    value, events, accuracies = shown["slices"]["label"]["values"][0]
    row = report["slices"]["label"][value]
    assert events == row["events"]
    assert accuracies == [row[name]["accuracy"] for name in report["learners"]]


def test_what_a_report_lacks_is_left_out() -> None:
    """A report of accuracy alone has no curve, no confusion, no kappa, no alarms."""
    shown = contents(report_of("synthetic://?events=300", **{"evaluation.metrics": "accuracy"}), 1000)
    absent = {"curve", "drift", "confusion", "shares", "by_label", "inputs", "novelty", "lag", "delayed_labels"}
    assert not absent & shown.keys()
    assert "kappa" not in shown["rows"][0]
    assert shown["rows"][0]["accuracy"] is not None


def test_largest_lags_and_latest_alarms_come_first(report: dict[str, Any]) -> None:
    """The furthest behind first; the last alarm first."""
    alarms = [
        {"learner": "perceptron", "labelled": n, "position": f"in:{n}", "before": 0.9, "after": 0.5} for n in range(80)
    ]
    more = {
        "lag": {f"topic/{part}": part % 7 for part in range(40)},
        "drift": {"of": "accuracy", "alarms": 80, "falls": 80, "last_alarms": alarms},
        "delayed_labels": {"waiting": 3, "joined": 4, "by": {"x": 1}},
    }
    shown = contents(report | more, 1000)
    assert shown["total_lag"] == sum(part % 7 for part in range(40))
    assert len(shown["lag"]) == 20
    assert shown["lag"][0] == ["topic/6", 6]
    assert [alarm["labelled"] for alarm in shown["drift"]["last_alarms"]] == list(range(79, 29, -1))
    assert (shown["drift"]["alarms"], shown["drift"]["falls"]) == (80, 80)
    assert shown["delayed_labels"] == {"waiting": 3, "joined": 4, "by x": 1}


def test_reports_of_one_event_and_none_are_shown(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    shown = contents(report_of("synthetic://?events=1", **{"pipeline.threads": 1}), 1000)
    assert shown["rows"][0]["accuracy"] == 0.0
    empty = contents(report_of(str(tmp_path / "empty.jsonl")), 1000)
    assert empty["rows"][0]["accuracy"] is None
    assert empty["shares"] == []
