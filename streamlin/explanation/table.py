"""An explanation as tables for a terminal."""

from collections.abc import Mapping
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamlin.explanation.reasons import Reasons
from streamlin.explanation.table_rows import TableRows, signed, table_rows
from streamlin.explanation.tag_rows import tagger_title, token_rows

if TYPE_CHECKING:
    from streamlin.explanation.tag_reasons import TagReasons


def tables(learners: Mapping[str, Reasons], top: int) -> RenderableType:
    """One table per learner."""
    parts: list[RenderableType] = []
    for reasons in learners.values():
        rows = table_rows(reasons, top)
        parts += [*([""] if parts else []), Text(rows.title, style="bold"), *_table(rows)]
    return Group(*parts)


def tag_tables(learners: "Mapping[str, TagReasons]", top: int) -> RenderableType:
    """One table per tagger and token."""
    parts: list[RenderableType] = []
    for reasons in learners.values():
        parts += [*([""] if parts else []), Text(tagger_title(reasons), style="bold")]
        for t in range(len(reasons.tokens) if reasons.parts else 0):
            rows = token_rows(reasons.token(t), top)
            parts += ["", Text(rows.title), *_table(rows)]
    return Group(*parts)


def as_text(shown: RenderableType) -> str:
    """Tables as plain text, 100 columns wide."""
    text = StringIO()
    Console(file=text, highlight=False, width=100, soft_wrap=True, color_system=None).print(shown)
    return text.getvalue().removesuffix("\n")


def _table(rows: TableRows) -> list[RenderableType]:
    if not rows.labels:
        return []
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(rows.head, overflow="fold")
    for label in rows.labels:
        table.add_column(Text(label), justify="right", no_wrap=True)
    for name, numbers in rows.reasons:
        table.add_row(Text(name), *map(signed, numbers))
    table.add_section()
    for name, numbers in rows.rest:
        table.add_row(Text(name), *map(signed, numbers), style="dim")
    return [table, Text(rows.remark)] if rows.remark else [table]
