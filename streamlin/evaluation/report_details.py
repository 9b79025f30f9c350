"""The long parts of a report: metrics by label, confusion, reliability, label shares, the curve of accuracy."""

from typing import Any

import numpy as np

from streamlin.evaluation.json_values import Row, json_values, rows_of
from streamlin.evaluation.label_sums import Totals
from streamlin.evaluation.precision_recall import by_label
from streamlin.evaluation.prequential import Prequential
from streamlin.evaluation.spans import PREFIXES, Span, Sums
from streamlin.evaluation.tally import Tally


def add_details(rows: list[Row], prequential: Prequential, sums: dict[Span, Sums], names: list[str]) -> None:
    """Add the reliability and confusion of learners, and the metrics by label of learners and references."""
    n = len(prequential.learners)
    if prequential.has_probabilities:
        for row, table in zip(rows[:n], prequential.calibration.reliability(), strict=True):
            row["reliability"] = table
    if not prequential.complete:
        return
    labels = label_rows({span: own.by_label for span, own in sums.items()}, names)
    n_baselines = len(prequential.baseline_names) - len(prequential.references)
    for number in (*range(n), *range(n + n_baselines, len(rows))):
        rows[number]["by_label"] = labels[number]
    recent = prequential.confusion.windowed(prequential.sums("window").window)
    for number in range(n):
        rows[number]["confusion"] = prequential.confusion.of(number, names)
        rows[number]["window_confusion"] = recent.of(number, names)


def label_rows(totals: dict[Span, Totals], names: list[str]) -> list[dict[str, Row]]:
    """For each of M predictors: label -> precision, recall and F1 over each span."""
    tables = {
        PREFIXES[span] + key: table for span, own in totals.items() for key, table in by_label(own)._asdict().items()
    }
    n_predictors = totals["running"].predicted.shape[0]
    return [
        dict(zip(names, rows_of({key: json_values(table[m]) for key, table in tables.items()}), strict=True))
        for m in range(n_predictors)
    ]


def label_shares(running: Totals, window: Totals, names: list[str]) -> dict[str, Row]:
    """Each label's share by weight, over all time and over the window; empty where nothing was counted."""
    shares = {"share": running.labels, "window_share": window.labels}
    columns = {key: json_values(weights / weights.sum()) for key, weights in shares.items() if weights.sum() > 0}
    return dict(zip(names, rows_of(columns), strict=True)) if columns else {}


def curve_of(tally: Tally) -> tuple[list[int], list[dict[str, Any]]]:
    """Numbers of labelled events, and each predictor's accuracies behind them, to six places."""
    events, points = tally.curve()
    return events, [
        {"accuracy": json_values(running), "window_accuracy": json_values(windowed)}
        for running, windowed in np.round(points, 6).transpose(2, 1, 0)
    ]
