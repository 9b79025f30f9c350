"""Figures as Markdown."""

import re
from collections.abc import Sequence
from statistics import median

MARKED = re.compile(r"<!-- figures: (?P<name>\S+) -->\n.*?<!-- end -->", re.DOTALL)
"""Finds the pieces that `marked` makes."""


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; its first `left` columns are texts, the others numbers."""
    rules = ["---"] * left + ["---:"] * (len(titles) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in (titles, rules, *rows))


def percent(share: float) -> str:
    """0.98333 as 98.33."""
    return f"{100 * share:.2f}"


def spread(values: Sequence[float], form: str = ",.0f") -> str:
    """The median, the least and the greatest."""
    return f"{median(values):{form}} ({min(values):{form}} – {max(values):{form}})"


def marked(name: str, text: str) -> str:
    """A piece of a report between the marks by which `fill.py` finds its place in the documents."""
    return f"<!-- figures: {name} -->\n{text}\n<!-- end -->"
