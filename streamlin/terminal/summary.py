"""How a run stands, and what a checkpoint holds, as tables for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamlin.config import BASELINES, learner_models
from streamlin.evaluation.mcnemar import SIGNIFICANT

_NO_NAMES = "for n-grams instead of buckets, run with --set features.names=100000"
_SIDE_BY_SIDE = 5
"""Learners whose accuracies in a slice fit next to each other in 80 columns."""


def accuracy_table(report: Mapping[str, Any], window: int) -> Table:
    """A row a learner, then the baselines: running accuracy with its 95 % interval, window, fading, and kappa."""
    titles = ["learner", "accuracy", "95 % interval", f"last {window:,}", "fading"]
    if any("kappa" in row for row in report["learners"].values()):
        titles.append("kappa")
    table = _table(*titles, right=len(titles) - 1)
    best = max((row["accuracy"] or 0.0 for row in report["learners"].values()), default=0.0)
    for name, row in report["learners"].items():
        table.add_row(Text(name), *_cells(row), style="bold" if row["accuracy"] == best else None)
    table.add_section()
    for name, row in report["baselines"].items():
        table.add_row(Text(name), *_cells(row), style="dim")
    return table


def standing(report: Mapping[str, Any], window: int) -> list[RenderableType]:
    """The table, and what there is to say of it."""
    lines = [Text(line) for line in remarks(report)]
    table: list[RenderableType] = [accuracy_table(report, window)]
    return [*table, "", *lines] if lines else table


def remarks(report: Mapping[str, Any]) -> list[str]:
    """Lines below the table: whether the leader's lead is more than luck, and who said nothing."""
    return [
        line for line in (*_retired(report), _lead(report), _fall(report), _silent(report), _delays(report)) if line
    ]


def _retired(report: Mapping[str, Any]) -> list[str]:
    """The external models that have failed."""
    rows = [(name, row["retired"]) for name, row in report["learners"].items() if "retired" in row]
    return [f"{name} is retired, it failed at {why['position']}: {_printable(why['error'])}" for name, why in rows]


def _silent(report: Mapping[str, Any]) -> str | None:
    """Who gave no prediction, and how often; nobody can for the first label, so that is not worth a word."""
    learners = {name: row["abstained"] for name, row in report["learners"].items()}
    if len(learners) > 1 and len(set(learners.values())) == 1:  # they know no label, all of them
        learners = {"each learner": next(iter(learners.values()))}
    others = {name: row["abstained"] for name, row in report["baselines"].items() if name not in BASELINES}
    said = [f"{name} {times:,} times" for name, times in (learners | others).items() if times > 1]
    return f"no prediction, counted as wrong: {', '.join(said)}" if said else None


def _delays(report: Mapping[str, Any]) -> str | None:
    """How much later labels came than their texts; None where none did."""
    delays = report.get("delayed_labels", {})
    delay = delays.get("delay_events")
    if delay is None:
        return None
    return (
        f"{delays['joined']:,} labels came later, behind {delay['median']:,} other texts (median), "
        f"{delay['p95']:,} (95 %)"
    )


def _lead(report: Mapping[str, Any]) -> str | None:
    """What McNemar's test says of the leader and the other learners; None where there is no other."""
    leader = report.get("leader")
    if leader is None or len(report["learners"]) == 1:
        return None
    others = {name: row["leader_p"] for name, row in report["learners"].items() if name != leader}
    undecided = [f"{name} ({_p(p)})" for name, p in others.items() if p >= SIGNIFICANT]
    if undecided:
        return f"{leader}: no difference shown to {', '.join(undecided)}"
    whom = next(iter(others)) if len(others) == 1 else "all other learners"
    return f"{leader} is ahead of {whom} ({_p(max(others.values()))})"


def _fall(report: Mapping[str, Any]) -> str | None:
    """How often accuracy fell, and the last time of it."""
    drift = report.get("drift")
    if drift is None or not drift["falls"]:
        return None
    line = f"drift: accuracy fell {drift['falls']:,} " + ("time" if drift["falls"] == 1 else "times")
    falls = [alarm for alarm in drift["last_alarms"] if alarm["after"] < alarm["before"]]
    if not falls:
        return line
    last, shares = falls[-1], [percent(falls[-1][key]) for key in ("before", "after")]
    return f"{line}, last at event {last['labelled']:,}: {last['learner']} {' to '.join(shares)}"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def counts_line(report: Mapping[str, Any]) -> str:
    """Events, labels, dead letters, and the pace."""
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
    """For each field a table, or several: each value's events and every learner's accuracy there; the largest first."""
    tables: list[RenderableType] = []
    learners = list(report["learners"])
    for field, values in report["slices"].items():
        if not values:
            tables += ["", Text(f"no labelled event has the field {field}")]
            continue
        for i in range(0, len(learners), _SIDE_BY_SIDE):
            tables += ["", _slice_table(field, values, learners[i : i + _SIDE_BY_SIDE], most)]
    return tables


def _slice_table(field: str, values: Mapping[str, Any], learners: Sequence[str], most: int) -> Table:
    titles = [Text(title.replace("_", "_\n")) for title in ("events", *learners)]
    table = _table(Text(field), *titles, right=len(titles))
    for value, row in sorted(values.items(), key=lambda item: -item[1]["events"])[:most]:
        table.add_row(
            Text(_printable(value)[:40]),
            f"{row['events']:,}",
            *(percent(row[name]["accuracy"]) for name in learners),
        )
    if len(values) > most:
        table.caption = f"{len(values) - most:,} more in the report"
    return table


def summary(report: Mapping[str, Any], window: int) -> RenderableType:
    """The whole of it."""
    if report["events"] and not report["labelled"]:
        return Group(counts_line(report), "no event has a label: nothing to measure; fields.label names their field")
    return Group(counts_line(report), "", *standing(report, window), *slice_tables(report))


def counted(number: int, thing: str) -> str:
    """1 label, 2 labels."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def percent(share: float | None) -> str:
    """98.62 %, or a dash."""
    return "–" if share is None else f"{100 * share:.2f} %"


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    interval = row["interval"]
    spread = "–" if interval is None else f"{100 * interval[0]:.2f} – {100 * interval[1]:.2f}"
    cells = (percent(row["accuracy"]), spread, percent(row["window_accuracy"]), percent(row["fading_accuracy"]))
    return (*cells, _ratio(row["kappa"])) if "kappa" in row else cells


def _ratio(number: float | None) -> str:
    return "–" if number is None else f"{round(number, 3) + 0.0:.3f}"  # no -0.000


def inspection(found: Mapping[str, Any]) -> RenderableType:
    """What `streamlin inspect` shows."""
    rows = ", ".join(f"{count:,} rows in view {view}" for view, count in found["rows"].items())
    head = (
        f"checkpoint {found['checkpoint']} · {counted(found['events'], 'event')}, {found['labelled']:,} labelled, "
        f"{counted(found['dead_letters'], 'dead letter')}"
    )
    return Group(
        Text(" · ".join(filter(None, [head, rows, f"{found['bytes'] / 1e6:.1f} MB"]))),
        "",
        _learners(found["learners"]),
        "",
        _labels(found["labels"]),
        *_positions(found["positions"]),
        *_heaviest(found),
    )


def _table(*titles: str | Text, right: int = 0) -> Table:
    """An empty table; its `right` last columns are numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, title in enumerate(titles, right - len(titles)):
        table.add_column(title, justify="right" if number >= 0 else "left", no_wrap=number >= 0)
    return table


def _learners(learners: Mapping[str, Any]) -> Table:
    table = _table("learner", "parameters", "view", "accuracy", right=1)
    for name, learner in learners.items():
        parameters = ", ".join(
            f"{key}={value}" for key, value in learner.items() if _is_told(learner["kind"], key, value)
        )
        table.add_row(Text(name), parameters, Text(learner["features"]), percent(learner["accuracy"]))
    return table


def _is_told(kind: str, key: str, value: Any) -> bool:
    """Of a learner's parameters: numbers, and what is not as by default."""
    if key in ("kind", "features", "accuracy"):
        return False
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    model = learner_models().get(kind)  # None: another package's
    return is_number or model is None or value != model.model_fields[key].default


def _labels(labels: Mapping[str, float], most: int = 20) -> Table:
    table = _table("label", "weight", right=1)
    for name, weight in list(labels.items())[:most]:
        table.add_row(Text(name[:60]), f"{weight:,.0f}")
    if len(labels) > most:
        table.caption = f"{len(labels) - most:,} more with --json"
    return table


def _positions(positions: Mapping[str, Any]) -> list[RenderableType]:
    table = _table("source", "part", "offset", right=1)
    for source, parts in positions.items():
        for part, position in parts.items():
            table.add_row(Text(source), Text(part), f"{position['offset']:,}")
    return ["", table] if table.row_count else []


def _heaviest(found: Mapping[str, Any]) -> list[RenderableType]:
    """By name where that is known, else by bucket."""
    named = any(found["names_kept"].values())
    table = _table("learner", "label", f"heaviest features ({'name' if named else 'bucket'}:weight)")
    for learner, labels in found["heaviest"].items():
        names = found["names"][found["learners"][learner]["features"]]
        for label, features in labels.items():
            shown = [f"{_name(names.get(str(bucket), []), bucket)}:{weight:+.2f}" for bucket, weight in features]
            table.add_row(Text(learner), Text(label[:40]), Text("  ".join(shown)))
    hint = [] if named else ["", _NO_NAMES]
    return ["", table, *hint] if table.row_count else []


def _name(names: list[str], bucket: int) -> str:
    """The n-grams of a bucket, or its number."""
    if not names:
        return str(bucket)
    from streamlin.explanation.printable import printable_ngrams  # what runs do not need

    return printable_ngrams(names)


def _printable(text: str) -> str:
    """In one line, without what would steer a terminal."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in " ".join(text.split())
    )
