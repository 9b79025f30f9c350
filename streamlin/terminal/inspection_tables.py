"""What a checkpoint holds, as tables."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamlin.config import table_model
from streamlin.config.base import listed
from streamlin.terminal.cells import counted, empty_table, percent, printable
from streamlin.terminal.keys import key_tables
from streamlin.terminal.summary import rounds_line, topic_tables

_NO_NAMES = "for n-grams instead of buckets, run with --set features.names=100000"


def inspection(found: Mapping[str, Any], whole: bool = False) -> RenderableType:
    """All that `streamlin inspect` shows. whole : long labels are not cut."""
    rows = ", ".join(f"{count:,} rows in view {view}" for view, count in found["rows"].items())
    head = (
        f"checkpoint {found['checkpoint']} · {counted(found['events'], 'event')}, {found['labelled']:,} labelled, "
        f"{counted(found['dead_letters'], 'dead letter')}"
    )
    if "templates" in found:
        head += f", {counted(found['templates']['new'], 'log template')}"
    if "rounds" in found:
        head += f", {rounds_line(found['rounds'])}"
    return Group(
        Text(" · ".join(filter(None, [head, rows, f"{found['bytes'] / 1e6:.1f} MB"]))),
        "",
        _learners(found["learners"]),
        "",
        _labels(found["labels"], whole),
        *key_tables(found.get("keys")),
        *_positions(found["positions"]),
        *_heaviest(found, whole),
        *topic_tables(found.get("topics", {})),
    )


def _learners(learners: Mapping[str, Any]) -> Table:
    clusters = any("clusters" in learner for learner in learners.values())
    table = empty_table("learner", "parameters", "view", "clusters" if clusters else "accuracy", right=1)
    for name, learner in learners.items():
        parameters = ", ".join(
            f"{key}={value}" for key, value in learner.items() if _is_shown(learner["kind"], key, value)
        )
        table.add_row(
            Text(printable(name)),
            Text(printable(parameters)),
            Text(printable(", ".join(listed(learner["features"])))),
            str(learner["clusters"]) if clusters else percent(learner["accuracy"]),
        )
    return table


def _cut(text: str, most: int | None) -> str:
    return printable(text)[:most]


def _is_shown(kind: str, key: str, value: Any) -> bool:
    """Whether to show a learner's parameter: a number, or a value that is not the default."""
    if key in ("kind", "features", "accuracy", "clusters"):
        return False
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    model = table_model(kind)  # None: a learner of another package
    return is_number or model is None or value != model.model_fields[key].default


def _labels(labels: Mapping[str, float], whole: bool, most: int = 20) -> Table:
    table = empty_table("label", "weight", right=1)
    for name, weight in list(labels.items())[:most]:
        table.add_row(Text(_cut(name, None if whole else 60)), f"{weight:,.0f}")
    if len(labels) > most:
        table.caption = f"{len(labels) - most:,} more with --json"
    return table


def _positions(positions: Mapping[str, Any]) -> list[RenderableType]:
    table = empty_table("source", "part", "offset", right=1)
    for source, parts in positions.items():
        for part, position in parts.items():
            table.add_row(Text(printable(source)), Text(printable(part)), f"{position['offset']:,}")
    return ["", table] if table.row_count else []


def _heaviest(found: Mapping[str, Any], whole: bool) -> list[RenderableType]:
    """The heaviest features of each learner and label; by name where names are kept, else by bucket."""
    named = any(found["names_kept"].values())
    table = empty_table("learner", "label", f"heaviest features ({'name' if named else 'bucket'}:weight)")
    for learner, labels in found["heaviest"].items():
        own = found["learners"][learner]["features"]
        for label, features in labels.items():
            shown = [
                f"{_name(found['names'][view[0] if view else own].get(str(bucket), []), bucket)}"
                f"{f' ({view[0]})' if view else ''}:{weight:+.2f}"
                for bucket, weight, *view in features
            ]
            table.add_row(Text(printable(learner)), Text(_cut(label, None if whole else 40)), Text("  ".join(shown)))
    hint = [] if named else ["", _NO_NAMES]
    return ["", table, *hint] if table.row_count else []


def _name(names: list[str], bucket: int) -> str:
    """The n-grams of a bucket, or its number."""
    if not names:
        return str(bucket)
    from streamlin.explanation.printable import printable_ngrams  # runs do not need it

    return printable_ngrams(names)
