"""A new metric is its class and an entry of the registry: everything that shows metrics shows it."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_allclose
from rich.console import Console

from streamlin.config.loading import load_config
from streamlin.errors import CheckpointError
from streamlin.evaluation.metrics import METRICS
from streamlin.evaluation.report import report_of
from streamlin.monitoring.dashboard.contents import contents
from streamlin.monitoring.prometheus.families import families
from streamlin.running.loop import Run
from streamlin.terminal.metrics_table import MetricsTable
from tests.evaluation.toy_metrics import WITH_TOYS
from tests.silent import Silent

SPANS = {"running": "", "window": "window_", "fading": "fading_"}


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlin.evaluation.metrics.METRICS", WITH_TOYS)


def run_over(url: str, **flags: Any) -> Run:
    return Run(load_config(flags={"source.url": url} | flags, environment={}), Silent())


@pytest.fixture
def run() -> Iterator[Run]:
    """Over 1,500 events of four labels; it has ended."""
    run = run_over("synthetic://?events=1500&labels=4&seed=2", **{"evaluation.window": 500})
    run.run()
    yield run
    run.close()


def test_the_report_has_it_last_over_each_span(run: Run) -> None:
    report = run.report(details=False)
    json.dumps(report, allow_nan=False)
    for row in (report["learners"] | report["baselines"]).values():
        assert list(row)[-4:] == [*(f"{prefix}balanced_accuracy" for prefix in SPANS.values()), "longest_streak"]
    for row in run.report()["learners"].values():
        recalls = [own["recall"] for own in row["by_label"].values()]
        assert_allclose(row["balanced_accuracy"], sum(recalls) / len(recalls))
    assert report["learners"]["naive_bayes"]["longest_streak"] > 5


def test_the_terminal_shows_it_by_rank(run: Run) -> None:
    file = StringIO()
    report = run.report(details=False)
    Console(width=100, file=file, highlight=False).print(MetricsTable(report, 500))
    head, first, *_ = [" ".join(line.split()) for line in file.getvalue().splitlines()]
    assert head == "learner streak accuracy 95 % interval last 500 fading kappa balanced, last 500"
    row = report["learners"]["naive_bayes"]
    assert first.startswith(f"naive_bayes {row['longest_streak']} ")
    assert first.endswith(f" {100 * row['window_balanced_accuracy']:.2f} %")


def test_the_page_gets_its_description_and_values(run: Run) -> None:
    report = run.report()
    shown = contents(report, 500)
    columns = {column["key"]: column for column in shown["columns"]}
    keys = list(columns)
    assert keys.index("longest_streak") == 1
    assert keys.index("balanced_accuracy") == keys.index("macro_f1") + 1
    assert columns["balanced_accuracy"] == {
        "key": "balanced_accuracy",
        "title": "balanced",
        "hint": "Mean recall of the labels that were true.",
        "format": "percent",
        "chosen": True,
    }
    row, own = shown["rows"][0], report["learners"]["naive_bayes"]
    for key in ("longest_streak", "balanced_accuracy", "window_balanced_accuracy", "fading_balanced_accuracy"):
        assert row[key] == own[key]


def test_prometheus_gets_it_under_its_names(run: Run) -> None:
    report = run.report(details=False)
    found = {family.name: family for family in families(run)}
    streaks = {sample.labels["learner"]: sample.value for sample in found["streamlin_learner_longest_streak"].samples}
    assert streaks == {name: row["longest_streak"] for name, row in report["learners"].items()}
    for group in ("learner", "baseline"):
        family = found[f"streamlin_{group}_balanced_accuracy_ratio"]
        assert family.documentation == "Mean recall of the labels that were true."
        for sample in family.samples:
            row = report[f"{group}s"][sample.labels[group]]
            assert sample.value == row[SPANS[sample.labels["span"]] + "balanced_accuracy"]


def test_a_checkpoint_holds_its_arrays(tmp_path: Path) -> None:
    """A run over the first half of a file, then over all of it, ends with the report of one run."""
    lines = [json.dumps({"text": f"word {i % 7} {i % 5}", "label": "ab"[i % 3 % 2]}) + "\n" for i in range(600)]
    path, flags = tmp_path / "in.jsonl", {"checkpoint.path": str(tmp_path / "state")}
    reports = []
    for n, own in ((300, flags), (600, flags), (600, {})):
        path.write_text("".join(lines[:n]))
        run = run_over(str(path), **own)
        run.run()
        assert run.model.prequential.state()[0]["metrics/longest_streak/longest"].shape == (7,)
        reports.append(report_of(run.model.prequential, run.model.labels))
        run.close()
    assert reports[1] == reports[2]
    assert reports[1]["labelled"] == 600


def test_a_checkpoint_without_its_arrays_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url, path = "synthetic://?events=100&labels=4&seed=2", {"checkpoint.path": str(tmp_path / "state")}
    with monkeypatch.context() as without:
        without.setattr("streamlin.evaluation.metrics.METRICS", METRICS)
        run = run_over(url, **path)
        run.run()
        run.close()
    with pytest.raises(CheckpointError, match=r"has no array evaluation/metrics/longest_streak/current, which its"):
        run_over(url, **path)


def test_accuracy_alone_leaves_it_out() -> None:
    """Neither toy has a lean span."""
    run = run_over("synthetic://?events=100&labels=4&seed=2", **{"evaluation.metrics": "accuracy"})
    row = run.run()["learners"]["naive_bayes"]
    assert not {"balanced_accuracy", "longest_streak"} & row.keys()
    assert not [name for name in run.model.prequential.state()[0] if name.startswith("metrics/")]
    run.close()
