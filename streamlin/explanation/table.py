"""An explanation as tables for a terminal."""

from collections.abc import Mapping
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamlin.explanation.reasons import Reasons
from streamlin.explanation.table_rows import TableRows, signed, table_rows


def tables(learners: Mapping[str, Reasons], top: int) -> RenderableType:
    """One table per learner."""
    parts: list[RenderableType] = []
    for reasons in learners.values():
        rows = table_rows(reasons, top)
        parts += [*([""] if parts else []), Text(rows.title, style="bold"), *_table(rows)]
    return Group(*parts)


def as_text(learners: Mapping[str, Reasons], top: int = 10) -> str:
    """The tables as plain text, 100 columns wide."""
    text = StringIO()
    Console(file=text, highlight=False, width=100, soft_wrap=True, color_system=None).print(tables(learners, top))
    return text.getvalue().removesuffix("\n")


def _table(rows: TableRows) -> list[RenderableType]:
    if not rows.labels:
        return []
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("n-gram", overflow="fold")
    for label in rows.labels:
        table.add_column(Text(label), justify="right", no_wrap=True)
    for name, numbers in rows.reasons:
        table.add_row(Text(name), *map(signed, numbers))
    table.add_section()
    for name, numbers in rows.rest:
        table.add_row(Text(name), *map(signed, numbers), style="dim")
    return [table, Text(rows.remark)] if rows.remark else [table]
