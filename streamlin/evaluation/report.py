"""What a run's measures say, as JSON-able values."""

from typing import Any

import numpy as np

from streamlin.evaluation.baselines import Baselines
from streamlin.evaluation.numbers import numbers
from streamlin.evaluation.pairs import pair_list, to_leader
from streamlin.evaluation.prequential import Prequential
from streamlin.evaluation.rows import Row, accuracy_rows, agreement_rows, label_rows, rows_of
from streamlin.events import LabelIndex


@np.errstate(over="ignore", invalid="ignore")
def report_of(measures: Prequential, labels: LabelIndex, details: bool = True) -> dict[str, Any]:
    """What was measured, as JSON-able values; None where nothing was labelled.

    details : False leaves out what is long: figures by label, confusion, reliability, pairs, the curve.

    Where weights are so large that their sums overflow there is no number: None too.
    """
    rows = _short_rows(measures)
    if details:
        _add_details(rows, measures, labels.names)
    report: dict[str, Any] = {**measures.counts, "labels": labels.names, **_named(rows, measures)}
    for name, why in measures.retired.items():
        report["learners"][name]["retired"] = why
    report["slices"] = {field: slices.report(measures.learners) for field, slices in measures.slices.items()}
    if measures.all:
        leader = measures.leader()
        report["leader"] = None if leader is None else measures.learners[leader]
        report["drift"] = measures.drift.report()
        report["inputs"] = measures.inputs.report()
        if details:
            names = [*measures.learners, *measures.baseline_names]
            report["pairs"] = pair_list(names, measures.pairs.only, measures.pairs.windowed(measures.accuracy.window()))
            report["curve"] = _curve(measures)
            report["label_shares"] = _label_shares(measures, labels.names)
    return report


def _named(rows: list[Row], measures: Prequential) -> dict[str, dict[str, Row]]:
    """What there is of each predictor, by name; learners and baselines apart."""
    n = len(measures.learners)
    return {
        "learners": dict(zip(measures.learners, rows[:n], strict=True)),
        "baselines": dict(zip(measures.baseline_names, rows[n:], strict=True)),
    }


def _short_rows(measures: Prequential) -> list[Row]:
    accuracy, n = measures.accuracy, len(measures.learners)
    parts = [accuracy_rows(accuracy)]
    if measures.all:
        parts.append(agreement_rows(accuracy, measures.sums, n))
        parts.append(to_leader(measures.leader(), measures.pairs.only, measures.pairs.windowed(accuracy.window())))
    rows = [dict(entry for part in own for entry in part.items()) for own in zip(*parts, strict=True)]
    for row, losses in zip(rows[:n], measures.calibration.losses(accuracy.window()), strict=True):
        row |= losses
    return rows


def _add_details(rows: list[Row], measures: Prequential, names: list[str]) -> None:
    """Reliability of learners; figures by label of learners and references; confusion of learners."""
    n = len(measures.learners)
    for row, table in zip(rows[:n], measures.calibration.reliability(), strict=True):
        row["reliability"] = table
    if measures.all:
        by_label = label_rows(measures.accuracy, measures.sums, names)
        for number in (*range(n), *range(n + len(Baselines.names), len(rows))):
            rows[number]["by_label"] = by_label[number]
        recent = measures.confusion.windowed(measures.accuracy.window())
        for number in range(n):
            rows[number]["confusion"] = measures.confusion.of(number, names)
            rows[number]["window_confusion"] = recent.of(number, names)


def _label_shares(measures: Prequential, names: list[str]) -> dict[str, Row]:
    """Each label's share by weight, over all time and over the window."""
    shares = {
        "share": measures.sums.running().labels,
        "window_share": measures.sums.windowed(measures.accuracy.window()).labels,
    }
    columns = {key: numbers(weights / weights.sum()) for key, weights in shares.items() if weights.sum() > 0}
    return dict(zip(names, rows_of(columns), strict=True)) if columns else {}


def _curve(measures: Prequential) -> dict[str, Any]:
    """Numbers of labelled events, and each predictor's accuracies behind them, to six places."""
    events, points = measures.accuracy.curve()
    rows = [
        {"accuracy": numbers(running), "window_accuracy": numbers(windowed)}
        for running, windowed in np.round(points, 6).transpose(2, 1, 0)
    ]
    return {"labelled": events, **_named(rows, measures)}
