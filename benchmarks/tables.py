"""Figures as Markdown."""

import re
from collections.abc import Sequence
from statistics import median

MARKED = re.compile(r"<!-- figures: (?P<name>\S+) -->\n.*?<!-- end -->", re.DOTALL)
"""What `marked` makes, in a text."""


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; its first `left` columns are texts, the others numbers."""
    rules = ["---"] * left + ["---:"] * (len(titles) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in (titles, rules, *rows))


def percent(share: float) -> str:
    """0.98333 as 98.33."""
    return f"{100 * share:.2f}"


def spread(values: Sequence[float], form: str = ",.0f") -> str:
    """The median, and from the least to the greatest."""
    return f"{median(values):{form}} ({min(values):{form}} – {max(values):{form}})"


def marked(name: str, text: str) -> str:
    """A piece of a report, between the marks that it has in the documents; `fill.py` puts it there."""
    return f"<!-- figures: {name} -->\n{text}\n<!-- end -->"
