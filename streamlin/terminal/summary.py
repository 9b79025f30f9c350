"""How a run stands: counts, the table of metrics, remarks, and slices."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamlin.terminal.cells import counted, empty_table, percent, printable
from streamlin.terminal.metrics_table import MetricsTable
from streamlin.terminal.remarks import about_reading, about_texts, remarks, unverified

_SIDE_BY_SIDE = 5
"""Learners whose accuracies in a slice fit next to each other in 80 columns."""


def summary(report: Mapping[str, Any], window: int) -> RenderableType:
    """All of it."""
    head: list[RenderableType] = [counts_line(report), *map(Text, about_reading(report))]
    if report["events"] and not report["labelled"]:
        hint = report.get("label_hint", "set fields.label to its field")
        nothing = f"no event has a label, so nothing is scored; {hint}"
        return Group(*head, *map(Text, [*unverified(report), nothing, *about_texts(report)]))
    return Group(*head, "", *standing(report, window), *slice_tables(report))


def standing(report: Mapping[str, Any], window: int) -> list[RenderableType]:
    """The table of metrics, and the remarks on it."""
    lines = [Text(line) for line in remarks(report)]
    table: list[RenderableType] = [MetricsTable(report, window)]
    return [*table, "", *lines] if lines else table


def counts_line(report: Mapping[str, Any]) -> str:
    """Events, labels, dead letters, and the speed."""
    parts = [counted(report["events"], "event")]
    if report["unlabelled"]:
        parts.append(f"{report['unlabelled']:,} without label")
    parts += [counted(len(report["labels"]), "label"), counted(report["dead_letters"], "dead letter")]
    if report["tombstones"]:
        parts.append(counted(report["tombstones"], "tombstone"))
    if report["lost"]:
        parts.append(f"{report['lost']:,} lost")
    if "delayed_labels" in report:
        parts.append(f"{report['delayed_labels']['waiting']:,} waiting for a label")
    if "lag" in report:
        parts.append(f"lag {sum(report['lag'].values()):,}")
    if report["events_per_second"] is not None:
        parts.append(f"{report['seconds']:.1f} s, {report['events_per_second']:,.0f} events/s")
    return " · ".join(parts)


def slice_tables(report: Mapping[str, Any], most: int = 12) -> list[RenderableType]:
    """For each field a table, or several: events (or tokens) and accuracies by value; the largest values first."""
    tables: list[RenderableType] = []
    learners = list(report["learners"])
    for field, values in report["slices"].items():
        if not values:
            tables += ["", Text(f"no labelled event has the field {field}")]
            continue
        for i in range(0, len(learners), _SIDE_BY_SIDE):
            tables += ["", _slice_table(field, values, learners[i : i + _SIDE_BY_SIDE], report["unit"], most)]
    return tables


def _slice_table(field: str, values: Mapping[str, Any], learners: Sequence[str], unit: str, most: int) -> Table:
    titles = [Text(title.replace("_", "_\n")) for title in (unit, *learners)]
    table = empty_table(Text(field), *titles, right=len(titles))
    for value, row in sorted(values.items(), key=lambda item: -item[1][unit])[:most]:
        table.add_row(
            Text(printable(value)[:40]),
            f"{row[unit]:,}",
            *(percent(row[name]["accuracy"]) for name in learners),
        )
    if len(values) > most:
        table.caption = f"{len(values) - most:,} more in the report"
    return table
