"""The models per key, as a line and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from streamlin.terminal.cells import counted, empty_table, percent, printable

_SHOWN = 3
"""Keys shown as the worst, and as the best."""
_SIDE_BY_SIDE = 5
_QUANTILES = {"lowest": "lowest", "p10": "10 %", "median": "median", "p90": "90 %", "highest": "highest"}


def key_tables(keys: Mapping[str, Any] | None) -> list[RenderableType]:
    """How many keys have a model; each learner's accuracy, own and shared, and over keys; the worst and best keys."""
    if keys is None:
        return []
    return ["", Text(keys_line(keys)), _learners(keys), *_listed(keys)]


def keys_line(keys: Mapping[str, Any]) -> str:
    """How many keys there are, were dropped, and are missing."""
    parts = [f"{counted(keys['keys'], 'key')} ({printable(keys['per'])})"]
    if keys["dropped"]:
        parts.append(f"{keys['dropped']:,} dropped (keys.max_keys = {keys['max_keys']:,})")
    if keys["without_key"]:
        parts.append(f"{counted(keys['without_key'], 'event')} without a key")
    parts += [f"{count:,} rows in view {view}" for view, count in keys["rows"].items()]
    return f"{' · '.join(parts)}; by key: {keys['measured']:,} with 10 labels or more"


def _learners(keys: Mapping[str, Any]) -> RenderableType:
    shared = any("shared" in row for row in keys["learners"].values())
    further = ["shared", "keys\nahead"] if shared else []
    titles = ["accuracy", "own", *further, *_QUANTILES.values()]
    table = empty_table("learner", *titles, right=len(titles))
    for name, row in keys["learners"].items():
        cells = [percent(row.get(which)) for which in ("accuracy", "own", *further[:1])]
        if shared:
            cells.append(f"{row['keys_ahead']:,}" if "keys_ahead" in row else "–")
        table.add_row(Text(printable(name)), *cells, *(percent(row[which]) for which in _QUANTILES))
    return table


def _listed(keys: Mapping[str, Any]) -> list[RenderableType]:
    """The worst and the best keys by their best learner; of the first learners that fit."""
    names: Sequence[str] = [*keys["learners"]][:_SIDE_BY_SIDE]
    tables: list[RenderableType] = []
    for which in ("worst", "best"):
        titles = [Text(title.replace("_", "_\n")) for title in ("events", *names)]
        table = empty_table(Text(f"{which} keys"), *titles, right=len(titles))
        for row in keys.get(which, ())[:_SHOWN]:
            shares = (percent(row["learners"][name]["accuracy"]) for name in names)
            table.add_row(Text(printable(row["key"])[:40]), f"{row['events']:,}", *shares)
        tables += ["", table] if table.row_count else []
    return tables
