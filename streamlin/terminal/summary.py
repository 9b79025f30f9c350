"""How a run stands: counts, the table of metrics, remarks, and slices."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamlin.terminal.cells import counted, empty_table, percent, printable
from streamlin.terminal.keys import key_tables
from streamlin.terminal.metrics_table import MetricsTable
from streamlin.terminal.remarks import about_reading, about_texts, remarks, unverified

_TEXT = 100
"""Characters shown of a template."""
_SIDE_BY_SIDE = 5
"""Learners whose accuracies in a slice fit next to each other in 80 columns."""


def summary(report: Mapping[str, Any], window: int) -> RenderableType:
    """All of it."""
    head: list[RenderableType] = [counts_line(report), *map(Text, about_reading(report))]
    if "topics" in report:
        return Group(*head, "", MetricsTable(report, window), *topic_tables(report["topics"]))
    if report["events"] and not report["labelled"]:
        hint = report.get("label_hint", "set fields.label to its field")
        nothing = f"no event has a label, so nothing is scored; {hint}"
        return Group(
            *head, *map(Text, [*unverified(report), nothing, *about_texts(report)]), *template_table(report, window)
        )
    tables = *template_table(report, window), *key_tables(report.get("keys")), *slice_tables(report)
    return Group(*head, "", *standing(report, window), *tables)


def standing(report: Mapping[str, Any], window: int) -> list[RenderableType]:
    """The table of metrics, and the remarks on it."""
    lines = [] if "topics" in report else [Text(line) for line in remarks(report)]
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
    if "rounds" in report:
        parts.append(rounds_line(report["rounds"]))
    if "workers" in report:
        parts.append(_workers(report["workers"]))
    if "lag" in report:
        parts.append(f"lag {sum(report['lag'].values()):,}")
    if report["events_per_second"] is not None:
        parts.append(f"{report['seconds']:.1f} s, {report['events_per_second']:,.0f} events/s")
    return " · ".join(parts)


def rounds_line(rounds: Mapping[str, Any]) -> str:
    """How many rounds there were, and how many shards had events in them."""
    used = rounds["shards_in_use"]
    in_use = "" if used is None or used == rounds["shards"] else f", {used:.1f} of them in use"
    return f"{counted(rounds['rounds'], 'round')} of {counted(rounds['shards'], 'shard')}{in_use}"


def _workers(workers: Sequence[Mapping[str, Any]]) -> str:
    """How many workers there were, and how often one of them had to be restored."""
    restarts = sum(worker["restarts"] for worker in workers)
    again = f", restored {counted(restarts, 'time')}" if restarts else ""
    return f"{counted(len(workers), 'worker')}{again}"


def template_table(report: Mapping[str, Any], window: int, most: int = 8) -> list[RenderableType]:
    """How many templates of log lines there are, and those with the most lines."""
    if "templates" not in report:
        return []
    found = report["templates"]
    recent = min(window, found["lines"])
    line = f"{counted(found['new'], 'log template')} in {counted(found['lines'], 'line')}, {found['window_new']:,} of "
    line += f"them in none before the last {recent:,}"
    if found["beyond"]:
        line += f"; {counted(found['beyond'], 'line')} without one (drain.max_templates)"
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in (("lines", "right"), ("", "right"), ("template", "left")):
        table.add_column(title, justify=justify, no_wrap=not title)  # type: ignore[arg-type]  # one of its literals
    for template in found["largest"][:most]:
        number = Text(f"#{template['number']}")
        table.add_row(f"{template['lines']:,}", number, Text(printable(template["text"])[:_TEXT]))
    if found["new"] > most:
        table.caption = f"{found['new'] - most:,} more in the report"
    return ["", Text(line), table]


def topic_tables(topics: Mapping[str, Any], most: int = 10) -> list[RenderableType]:
    """For each clusterer its largest clusters, with their heaviest words."""
    tables: list[RenderableType] = []
    for learner, clusters in topics.items():
        labelled = any("label" in cluster for cluster in clusters)
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("texts", justify="right", no_wrap=True)
        table.add_column("", justify="right", no_wrap=True)
        table.add_column(Text(f"{learner}: heaviest words"))
        if labelled:
            table.add_column("commonest label")
        for cluster in clusters[:most]:
            row: list[RenderableType] = [
                f"{cluster['texts']:,.0f}",
                f"#{cluster['number']}",
                Text(printable(" ".join(cluster["words"]))),
            ]
            if labelled:
                label = cluster.get("label")
                share = "" if label is None else f"{printable(label)[:40]} {percent(cluster['label_share'])}"
                row.append(Text(share))
            table.add_row(*row)
        if len(clusters) > most:
            table.caption = f"{len(clusters) - most:,} more in the report"
        tables += ["", table]
    return tables


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
