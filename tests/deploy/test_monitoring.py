"""Queries, rules and panels in `deploy/` fit the metrics that a run exports."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.core import Metric

from streamlin.config.loading import load_config
from streamlin.monitoring.prometheus.families import families
from streamlin.running.loop import Run
from tests.required import program
from tests.silent import Silent

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
FROM_ELSEWHERE = {"process_resident_memory_bytes", "up"}
OF_THE_SERVER = {"streamlin_checkpoint_age_seconds", "streamlin_ready", "streamlin_healthy"}
"""Metrics that exist only in a scrape; `tests/integration/test_metrics.py` scrapes them."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Name of each sample -> names of its labels, of a run that exports all metrics."""
    source = "synthetic://?events=500&labels=3"
    state = str(tmp_path_factory.mktemp("run") / "state")
    config = load_config(flags={"source.url": source, "checkpoint.path": state}, environment={})
    with closing(Run(config, Silent())) as run:
        run.run()
        run.lag = lambda: {"topic/0": 3}  # type: ignore[method-assign]  # as a topic would
        report = run.report
        more = {"drift": {"alarms": 1}, "delayed_labels": {"waiting": 1}}
        run.report = lambda details=True: report(details) | more  # type: ignore[method-assign]
        told: list[Metric] = families(run)
    return {sample.name: set(sample.labels) for metric in told for sample in metric.samples}


def expressions() -> Iterator[tuple[str, str]]:
    """Name and expression of each alert and of each query of the dashboard."""
    for group in alerts()["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    dashboard = json.loads((DEPLOY / "grafana/streamlin.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["name"], annotation["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["definition"]


def alerts() -> dict[str, Any]:
    rules: dict[str, Any] = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())
    return rules


def test_queries_use_exported_metrics_and_labels(exported: dict[str, set[str]]) -> None:
    found = list(expressions())
    assert len(found) > 25
    for where, expression in found:
        names = re.findall(r"\b(?:streamlin|process)_\w+|\bup\b", expression)
        assert names, (where, expression)
        for name in names:
            assert name in exported.keys() | FROM_ELSEWHERE | OF_THE_SERVER, (where, name)
        for name, selector in re.findall(r"(\w+)\{([^}]*)\}", expression):
            asked = set(re.findall(r"(\w+)(?:=~?|!=|!~)", selector)) - {"instance", "job"}
            assert asked <= exported.get(name, set()), (where, name)


def test_legends_use_exported_labels(exported: dict[str, set[str]]) -> None:
    dashboard = json.loads((DEPLOY / "grafana/streamlin.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            (name, *_) = re.findall(r"\b(?:streamlin|process)_\w+", target["expr"])
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= exported.get(name, set()), target


def test_panels_have_unique_numbers_and_places() -> None:
    panels = json.loads((DEPLOY / "grafana/streamlin.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(taken)) == len(taken)
    assert max(x for x, _ in taken) < 24


def test_promtool_accepts_the_configuration() -> None:
    check = [program("promtool"), "check", "config", DEPLOY / "prometheus/prometheus.yml"]
    done = subprocess.run(check, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_severity_and_a_summary() -> None:
    for group in alerts()["groups"]:
        for rule in group["rules"]:
            assert rule["labels"]["severity"] in ("info", "warning", "critical")
            assert rule["annotations"]["summary"]
