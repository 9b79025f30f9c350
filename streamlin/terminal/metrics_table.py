"""The table of metrics: a row for each learner and baseline, the columns that metrics declare for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics import terminal_columns
from streamlin.evaluation.spans import Span
from streamlin.terminal.cells import FORMATS, empty_table

_Columns = list[tuple[type[Metric], Span]]


def metrics_table(report: Mapping[str, Any], window: int) -> Table:
    """Learners, the best one bold, then the baselines; without the columns that no learner has.

    window : labelled events, as its columns are titled.
    """
    learners = report["learners"].values()
    columns = [
        (metric, span) for metric, span in terminal_columns() if any(metric.key(span) in row for row in learners)
    ]
    titles = ["learner", *(metric.heading(span, window) for metric, span in columns)]
    table = empty_table(*titles, right=len(columns))
    best = max((row["accuracy"] or 0.0 for row in learners), default=0.0)
    for name, row in report["learners"].items():
        table.add_row(Text(name), *_cells(row, columns), style="bold" if row["accuracy"] == best else None)
    table.add_section()
    for name, row in report["baselines"].items():
        table.add_row(Text(name), *_cells(row, columns), style="dim")
    return table


def _cells(row: Mapping[str, Any], columns: _Columns) -> list[str]:
    """Empty where a predictor has no such metric."""
    keys = [(metric.key(span), FORMATS[metric.format]) for metric, span in columns]
    return [write(row[key]) if key in row else "" for key, write in keys]
