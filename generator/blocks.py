"""Generated blocks of Markdown pages, between comments that readers don't see, and tables."""

import re
from collections.abc import Iterable, Mapping, Sequence

_BLOCK = re.compile(r"<!-- generated: ([^>]+) -->\n.*?<!-- end -->", re.DOTALL)


def block(name: str, content: str) -> str:
    """The content with its comments; the blank lines let Markdown read it as usual."""
    return f"<!-- generated: {name} -->\n\n{content}\n\n<!-- end -->"


def filled(page: str, contents: Mapping[str, str]) -> str:
    """The page with these contents, by name, in its blocks. Raises LookupError if the page has other blocks."""
    names = _BLOCK.findall(page)
    if sorted(names) != sorted(contents):
        raise LookupError(f"the page's generated blocks are {sorted(names)}, expected {sorted(contents)}")
    return _BLOCK.sub(lambda found: block(found[1], contents[found[1]]), page)


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar within a cell is escaped."""
    cells = [[cell.replace("|", r"\|") for cell in row] for row in (titles, *rows)]
    head, *body = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in cells]
    return "\n".join([head, f"|{'---|' * len(titles)}", *body])
