"""A run's metrics as a report of JSON-able values."""

from typing import TYPE_CHECKING, Any

import numpy as np

from streamlin.config import TEMPLATE
from streamlin.evaluation.json_values import Row, json_values
from streamlin.evaluation.pairs import pair_list
from streamlin.evaluation.prequential import Prequential
from streamlin.evaluation.report_details import add_details, curve_of, label_shares
from streamlin.evaluation.sampled_sums import SampledSums
from streamlin.evaluation.spans import PREFIXES, Span, Sums
from streamlin.events import LabelIndex

if TYPE_CHECKING:
    from streamlin.features.drain import Drain

_TEMPLATES, _NEWEST = 1000, 20
"""Templates of log lines in a report: those of most lines, and the newest."""


@np.errstate(over="ignore", invalid="ignore")
def report_of(prequential: Prequential, labels: LabelIndex, details: bool = True) -> dict[str, Any]:
    """All that was counted, JSON-able; None where nothing was labelled, or the sums of very large weights overflowed.

    details : False leaves out what is long: metrics by label, confusion, reliability, pairs, the curve.
    """
    sums = {span: prequential.sums(span) for span in PREFIXES}
    rows = metric_rows(prequential, sums)
    if prequential.sampled is not None and prequential.complete:
        add_raw(rows, prequential, sums)
    if details:
        add_details(rows, prequential, sums, labels.names)
    report: dict[str, Any] = {
        **prequential.counts,
        "dead_letters_by_kind": prequential.dead_letter_kinds.by_frequency(),
        "unit": prequential.unit,
        "labels": labels.names,
        **({"unverified": True} if prequential.unverified else {}),
        **_by_name(rows, prequential),
    }
    for name, why in prequential.retired.items():
        report["learners"][name]["retired"] = why
    report["slices"] = {field: slices.to_json(prequential.learners) for field, slices in prequential.slices.items()}
    report |= prequential.measures.to_json(details, labels.names)
    report |= prequential.more(details)
    if prequential.keys is not None:
        report["keys"] = prequential.keys.to_json(details)
    if prequential.drain is not None:
        report["templates"] = templates_of(prequential.drain, prequential.config.window, details)
        if TEMPLATE in report["slices"]:
            values = report["slices"][TEMPLATE].items()
            report["slices"][TEMPLATE] = {prequential.drain.name(value): row for value, row in values}
    if prequential.complete:
        leader = sums["running"].leader
        report["leader"] = None if leader is None else prequential.learners[leader]
        report["drift"] = {"of": prequential.drift.of} | prequential.drift.to_json()
        report["inputs"] = prequential.feature_counts.to_json()
        if details:
            names = [*prequential.learners, *prequential.baseline_names]
            report["pairs"] = pair_list(names, sums["running"], sums["window"])
            labelled, courses = curve_of(prequential.course())
            report["curve"] = {"labelled": labelled, **_by_name(courses, prequential)}
            report["label_shares"] = label_shares(sums["running"].by_label, sums["window"].by_label, labels.names)
    return report


def templates_of(drain: "Drain", window: int, details: bool = True) -> dict[str, Any]:
    """The templates of log lines: how many lines were read, how many brought one, and how many have none.

    details : also the texts, those with the most lines, and the newest ones.
    """
    counts = {
        "lines": drain.lines,
        "new": len(drain),
        "window_new": drain.new_since(drain.lines - window),
        "beyond": drain.beyond,
    }
    if not details:
        return counts
    largest = np.argsort(-drain.counts, kind="stable")[:_TEMPLATES].tolist()
    newest = range(len(drain) - 1, max(-1, len(drain) - 1 - _NEWEST), -1)
    return counts | {"largest": [_template(drain, i) for i in largest], "newest": [_template(drain, i) for i in newest]}


def _template(drain: "Drain", number: int) -> dict[str, Any]:
    return {
        "number": number + 1,
        "text": drain.texts[number],
        "lines": int(drain.counts[number]),
        "first_line": int(drain.firsts[number]) + 1,
    }


def metric_rows(prequential: Prequential, sums: dict[Span, Sums]) -> list[Row]:
    """For each predictor the values of all metrics, by key."""
    rows: list[Row] = [{} for _ in (*prequential.learners, *prequential.baseline_names)]
    for group in prequential.metrics:
        for span in PREFIXES:
            for metric in group:
                if span in prequential.spans(metric):
                    values = json_values(metric.compute(sums[span]))
                    for row, value in zip(rows, values, strict=False):  # some are of the learners alone
                        row[metric.key(span)] = value
    return rows


def add_raw(rows: list[Row], prequential: Prequential, sums: dict[Span, Sums]) -> None:
    """Add the metrics of the labels as they are, where only a sample of the events gets labels, as `raw`."""
    found: list[Row] = [{} for _ in rows]
    for metric in (metric for group in prequential.metrics for metric in group if metric.of_sums):
        for span in prequential.spans(metric):
            own = sums[span]
            assert isinstance(own, SampledSums)
            for row, value in zip(found, json_values(metric.compute(own.raw)), strict=True):
                row[metric.key(span)] = value
    for row, raw in zip(rows, found, strict=True):
        row["raw"] = raw


def _by_name(rows: list[Row], prequential: Prequential) -> dict[str, dict[str, Row]]:
    """A row for each predictor by its name; learners and baselines apart."""
    n = len(prequential.learners)
    return {
        "learners": dict(zip(prequential.learners, rows[:n], strict=True)),
        "baselines": dict(zip(prequential.baseline_names, rows[n:], strict=True)),
    }
