"""A report as the page takes it: in the page's order, cut short, and with every foreign text safe to display.

What a report lacks is left out, and the page hides that part.
"""

from collections.abc import Mapping
from heapq import nlargest
from typing import Any, Literal

from streamlin.config import TEMPLATE
from streamlin.evaluation.confusion import ABSTAINED
from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics import page_columns
from streamlin.evaluation.spans import Span
from streamlin.monitoring.dashboard.texts import LONG, shortened

_LABELS = 12
"""Labels of the confusion matrix, the most frequent ones; the others are combined."""
_PAIRS = 8
_SHARES = 20
_VALUES = 20
"""Values shown of a field, those with the most events."""
_ALARMS = 50
_BY_LABEL = ("precision", "recall", "f1")
_COUNTS = ("events", "labelled", "unlabelled", "dead_letters", "tombstones", "lost")
_KINDS = 3
"""Kinds of dead letters shown, the commonest ones."""
_PARTS = 20
"""Partitions whose lag is shown, those with the largest lag."""


def contents(report: Mapping[str, Any], window: int, hide_text: bool = False) -> dict[str, Any]:
    """A report as the page takes it, JSON-able; the curve is under `curve`, its series in the order of `rows`.

    window : labelled events, as its columns are titled.
    hide_text : leave out the texts of templates, and the words of clusters.
    """
    shown: dict[str, Any] = {
        "window": window,
        "counts": {key: report[key] for key in _COUNTS},
        "dead_letters_by_kind": _kinds(report.get("dead_letters_by_kind", {})),
        "seconds": report["seconds"],
        "events_per_second": report["events_per_second"],
        "unit": report["unit"],
        "n_labels": len(report["labels"]),
        "unverified": report.get("unverified", False),
        "leader": report.get("leader"),
        "columns": _columns(report, window),
        "rows": _rows(report),
        "slices": {
            shortened(field): _slices(values, report, hide_text and field == TEMPLATE)
            for field, values in report["slices"].items()
        },
    }
    if "keys" in report:
        shown["slices"] |= _of_keys(report["keys"], report, hide_text)
    if "lag" in report:
        shown["lag"] = sorted(([shortened(part), lag] for part, lag in report["lag"].items()), key=_by_lag)[:_PARTS]
        shown["total_lag"] = sum(report["lag"].values())
    if "rounds" in report:
        shown["rounds"] = {"rounds": report["rounds"]["rounds"], "shards": report["rounds"]["shards"]}
    if "workers" in report:
        workers = report["workers"]
        shown["workers"] = {"workers": len(workers), "restarts": sum(worker["restarts"] for worker in workers)}
    if "curve" in report:
        shown["curve"] = _curve(report)
    if any("confusion" in row for row in report["learners"].values()):
        shown["confusion"] = _confusion(report)
    if "label_shares" in report:
        shown["shares"] = _shares(report["label_shares"])
        shown["by_label"] = _by_label(report)
    if "inputs" in report:
        shown["inputs"] = {shortened(view): dict(figures) for view, figures in report["inputs"].items()}
    if "novelty" in report:
        shown["novelty"] = _novelty(report["novelty"])
    if "surprise" in report:
        shown["surprise"] = _numbers(report["surprise"])
    if "drift" in report:
        shown["drift"] = _drift(report["drift"])
    if "templates" in report:
        shown["templates"] = _templates(report["templates"], hide_text)
    if "topics" in report:
        shown["topics"] = {shortened(name): _topics(own, hide_text) for name, own in report["topics"].items()}
    if isinstance(report.get("delayed_labels"), Mapping):
        asking = {key: report["asking"][key] for key in ("asked", "answered")} if "asking" in report else {}
        shown["delayed_labels"] = _numbers(report["delayed_labels"]) | asking
    return shown


def _of_keys(keys: Mapping[str, Any], report: Mapping[str, Any], hide_text: bool) -> dict[str, Any]:
    """The worst and the best keys, as slices by the field that holds the key."""
    listed = {which: {row["key"]: row | row["learners"] for row in keys.get(which, ())} for which in ("worst", "best")}
    field = shortened(keys["per"])
    return {f"{field}, {which} keys": _slices(rows, report, hide_text) for which, rows in listed.items() if rows}


def _kinds(kinds: Mapping[str, int]) -> list[list[Any]]:
    """The commonest kinds of dead letters with their counts."""
    return [[shortened(kind, LONG), count] for kind, count in list(kinds.items())[:_KINDS]]


def _columns(report: Mapping[str, Any], window: int) -> list[dict[str, Any]]:
    """The columns of the table of learners that the report has, from left to right."""
    rows = [*report["learners"].values(), *report["baselines"].values()]
    return [
        {
            "key": metric.name if span == "chosen" else metric.key(span),
            "title": metric.heading(span, window),
            "hint": f"{metric.meaning} Smaller is better." if metric.smaller_is_better else metric.meaning,
            "format": metric.format,
            "chosen": span == "chosen",
        }
        for metric, span in page_columns()
        if any(key in row for key in _keys(metric, span) for row in rows)
    ]


def _rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """For each learner and baseline the values of the columns; of a column whose span is chosen, over all spans."""
    keys = [key for metric, span in page_columns() for key in _keys(metric, span)]
    return [
        {"name": name, "learner": group == "learners"} | {key: row[key] for key in keys if key in row}
        for group in ("learners", "baselines")
        for name, row in report[group].items()
    ]


def _keys(metric: type[Metric], span: Span | Literal["chosen"]) -> list[str]:
    """Of a column's values in the report."""
    return [metric.key(one) for one in metric.spans] if span == "chosen" else [metric.key(span)]


def _curve(report: Mapping[str, Any]) -> dict[str, Any]:
    curve = report["curve"]
    rows = [row for group in ("learners", "baselines") for row in curve.get(group, {}).values()]
    kinds = [key for key in ("window_accuracy", "accuracy", "fading_accuracy") if rows and key in rows[0]]
    return {"labelled": curve["labelled"]} | {kind: [row[kind] for row in rows] for kind in kinds}


def _slices(values: Mapping[str, Any], report: Mapping[str, Any], hide_text: bool) -> dict[str, Any]:
    largest = sorted(values.items(), key=lambda item: -item[1][report["unit"]])
    names = list(report["learners"])
    return {
        "values": [
            [
                shortened(value.split(" ")[0] if hide_text else value),
                row[report["unit"]],
                [row[name]["accuracy"] for name in names],
            ]
            for value, row in largest[:_VALUES]
        ],
        "more": max(0, len(largest) - _VALUES),
    }


def _confusion(report: Mapping[str, Any]) -> dict[str, Any]:
    """For each learner a matrix of the most frequent labels, true by predicted, and the pairs it mixes up most.

    Over all time, and over the window as `window_learners` and `window_mixups`.
    """
    rows = report["learners"]
    totals = {label: sum(cells.values()) for label, cells in next(iter(rows.values()))["confusion"].items()}
    commonest = sorted(totals, key=lambda label: -totals[label])[:_LABELS]
    places = {label: place for place, label in enumerate(commonest)}
    found: dict[str, Any] = {"labels": [*map(shortened, commonest)]}
    for span in ("", "window_"):
        found[f"{span}learners"] = {name: _matrix(row[f"{span}confusion"], places) for name, row in rows.items()}
        found[f"{span}mixups"] = {name: _mixups(row[f"{span}confusion"]) for name, row in rows.items()}
    return found


def _shares(shares: Mapping[str, Mapping[str, float | None]]) -> list[list[Any]]:
    """Label, its share of all labelled events and of the window; the most frequent first, the last row for the rest."""
    rows: list[list[Any]] = [
        [shortened(label), shares[label]["share"], shares[label]["window_share"]] for label in _by_share(shares)
    ]
    if len(rows) <= _SHARES:
        return rows
    rest = [sum(row[column] or 0.0 for row in rows[_SHARES:]) for column in (1, 2)]
    return [*rows[:_SHARES], ["others", *rest]]


def _by_label(report: Mapping[str, Any]) -> dict[str, dict[str, list[list[float | None]]]]:
    """For each learner precision, recall and F1 of the labels shown; over all time and over the window."""
    labels = _by_share(report["label_shares"])[:_SHARES]
    return {
        f"{span}learners": {
            name: [[_rounded(row["by_label"][label][span + key]) for key in _BY_LABEL] for label in labels]
            for name, row in report["learners"].items()
        }
        for span in ("", "window_")
    }


def _by_share(shares: Mapping[str, Mapping[str, float | None]]) -> list[str]:
    """Labels, the most frequent first."""
    return sorted(shares, key=lambda label: -(shares[label]["share"] or 0.0))


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def _matrix(table: Mapping[str, Mapping[str, int]], places: Mapping[str, int]) -> list[list[int]]:
    """Counts by place; the last row and column count labels without a place, the column abstentions too."""
    rest = len(places)
    matrix = [[0] * (rest + 1) for _ in range(rest + 1)]
    for true, cells in table.items():
        row = matrix[places.get(true, rest)]
        for guess, count in cells.items():
            row[places.get(guess, rest)] += count
    return matrix


def _mixups(table: Mapping[str, Mapping[str, int]]) -> list[list[Any]]:
    """True label, predicted label, events: the pairs that were mixed up most often."""
    pairs = [
        (count, true, guess)
        for true, cells in table.items()
        for guess, count in cells.items()
        if guess not in (true, ABSTAINED)
    ]
    return [[shortened(true), shortened(guess), count] for count, true, guess in nlargest(_PAIRS, pairs)]


def _drift(drift: Mapping[str, Any]) -> dict[str, Any]:
    last = drift.get("last_alarms", [])[-_ALARMS:]
    return {key: value for key, value in drift.items() if _is_number(value)} | {
        "of": drift["of"],
        "last_alarms": [
            {key: shortened(value, LONG) if isinstance(value, str) else value for key, value in alarm.items()}
            for alarm in reversed(last)
        ],
    }


def _templates(templates: Mapping[str, Any], hide_text: bool) -> dict[str, Any]:
    """The counts of log templates; and of the largest and the newest: number, text, lines, and the first line."""
    found = {key: value for key, value in templates.items() if _is_number(value)}
    for key in ("newest", "largest"):
        found[key] = [
            [one["number"], None if hide_text else shortened(one["text"], LONG), one["lines"], one["first_line"]]
            for one in templates.get(key, [])[:_VALUES]
        ]
    return found


def _topics(clusters: list[dict[str, Any]], hide_text: bool) -> list[list[Any]]:
    """Of the largest clusters: number, weight of texts, heaviest words, commonest label and its share."""
    return [
        [
            one["number"],
            one["texts"],
            None if hide_text else shortened(" ".join(one.get("words", ())), LONG),
            shortened(one["label"]) if "label" in one else None,
            one.get("label_share"),
        ]
        for one in clusters[:_VALUES]
    ]


def _novelty(novelty: Mapping[str, Any]) -> dict[str, Any]:
    alarms = [alarm | {"position": shortened(alarm["position"], LONG)} for alarm in novelty["last_alarms"][-_ALARMS:]]
    shown = {key: value for key, value in novelty.items() if key not in ("curve", "last_alarms")}
    curve = {key: [_rounded(value) for value in values] for key, values in novelty.get("curve", {}).items()}
    return shown | {"last_alarms": alarms[::-1], "curve": curve}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _by_lag(item: list[Any]) -> int:
    """A sort key: the largest lag first."""
    return -int(item[1])


def _numbers(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """The numbers among values, and those of nested mappings, as `delay_events median`."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if _is_number(value):
            found[before + key] = value
        elif isinstance(value, Mapping):
            found |= _numbers(value, f"{before}{key} ")
    return found
