"""The table of metrics: a row for each learner and baseline, the columns that metrics declare for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from streamlin.evaluation.metric import Metric
from streamlin.evaluation.metrics import terminal_columns
from streamlin.evaluation.spans import Span
from streamlin.terminal.cells import FORMATS, empty_table

_Columns = list[tuple[type[Metric], Span]]


class MetricsTable:
    """Learners, the best one bold, then the baselines; without the columns that no learner has.

    Columns that a terminal is too narrow for follow in a table of their own.

    window : labelled events, as its columns are titled.
    """

    def __init__(self, report: Mapping[str, Any], window: int) -> None:
        self._report, self._window = report, window

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        learners = self._report["learners"].values()
        columns = [
            (metric, span) for metric, span in terminal_columns() if any(metric.key(span) in row for row in learners)
        ]
        while columns:
            n = len(columns)
            while n > 1 and _width(self._table(columns[:n]), console, options) > options.max_width:
                n -= 1
            yield self._table(columns[:n])
            columns = columns[n:]
            if columns:
                yield ""

    def _table(self, columns: _Columns) -> Table:
        learners, baselines = self._report["learners"], self._report["baselines"]
        titles = ["learner", *(metric.heading(span, self._window) for metric, span in columns)]
        table = empty_table(*titles, right=len(columns))
        best = max((row.get("accuracy") or 0.0 for row in learners.values()), default=0.0)
        for name, row in learners.items():
            table.add_row(Text(name), *_cells(row, columns), style="bold" if row.get("accuracy") == best else None)
        table.add_section()
        for name, row in baselines.items():
            table.add_row(Text(name), *_cells(row, columns), style="dim")
        return table


def _width(table: Table, console: Console, options: ConsoleOptions) -> int:
    """The width of a table of which nothing is cut."""
    return Measurement.get(console, options.update(max_width=10_000), table).maximum


def _cells(row: Mapping[str, Any], columns: _Columns) -> list[str]:
    """Empty where a predictor has no such metric."""
    keys = [(metric.key(span), FORMATS[metric.format]) for metric, span in columns]
    return [write(row[key]) if key in row else "" for key, write in keys]
