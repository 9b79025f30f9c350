"""Numbers and texts as cells of a table on a terminal."""

from collections.abc import Callable
from typing import Any

from rich.table import Table
from rich.text import Text

from streamlin.evaluation.metric import Format


def percent(share: float | None) -> str:
    """98.62 %, or a dash."""
    return "–" if share is None else f"{100 * share:.2f} %"


def counted(number: int, thing: str) -> str:
    """1 label, 2 labels."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _ratio(number: float | None) -> str:
    return "–" if number is None else f"{round(number, 3) + 0.0:.3f}"  # no -0.000


def _interval(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else f"{100 * ends[0]:.2f} – {100 * ends[1]:.2f}"


def _probability(p: float | None) -> str:
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.2g}"


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


FORMATS: dict[Format, Callable[[Any], str]] = {
    "percent": percent,
    "ratio": _ratio,
    "count": _count,
    "probability": _probability,
    "interval": _interval,
}
"""A metric's value as text, by the name of its format; a dash for None."""


def printable(text: str) -> str:
    """In one line, without characters that would steer a terminal."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in " ".join(text.split())
    )


def empty_table(*titles: str | Text, right: int = 0) -> Table:
    """A table without rows; its `right` last columns are numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, title in enumerate(titles, right - len(titles)):
        table.add_column(title, justify="right" if number >= 0 else "left", no_wrap=number >= 0)
    return table
