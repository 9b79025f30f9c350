"""The README and the pages of the site as tests see them: fenced blocks, sections, tables."""

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """line : number of the line where the block begins."""

    page: str
    line: int
    language: str
    text: str
    follows: str
    """The text between the block before and this one."""
    heading: str
    """The heading of its section."""

    @property
    def place(self) -> str:
        return f"{self.page}, block at line {self.line}"

    def file(self) -> str | None:
        """The name of the file that the block holds, if its first line gives one."""
        name = re.match(r"# ([\w./-]+\.(?:py|toml))\n", self.text)
        return name[1] if name and self.language in ("python", "toml") else None

    def commands(self) -> Iterator[tuple[str, str]]:
        """Each command of a console block and the output below it."""
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            command, *shown = re.split(r"(?<!\\)\n", part, maxsplit=1)
            yield command, shown[0] if shown else ""


class Page:
    """A Markdown file; its name is its path below the repository's root."""

    def __init__(self, name: str) -> None:
        self.name, self.path = name, ROOT / name
        self.text = self.path.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def blocks(self) -> list[Block]:
        """The fenced blocks, from top to bottom."""
        found, end = [], 0
        for match in _FENCED.finditer(self.text):
            before = self.text[: match.start()]
            headings = re.findall(r"^#+ (.*)$", _FENCED.sub("", before), re.MULTILINE)
            found.append(
                Block(self.name, before.count("\n") + 1, match[1], match[2], before[end:], (headings or [""])[-1])
            )
            end = match.end()
        return found

    @cached_property
    def prose(self) -> str:
        """The text without fenced blocks."""
        return _FENCED.sub("", self.text)

    @property
    def anchors(self) -> set[str]:
        """The anchors of its headings, as GitHub makes them."""
        titles = re.findall(r"^#+ (.*)$", self.prose, re.MULTILINE)
        return {re.sub(r"[^\w -]", "", title).replace(" ", "-").lower() for title in titles}

    def section(self, title: str) -> str:
        """The prose below a heading, up to the next heading."""
        match = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", self.prose, re.MULTILINE | re.DOTALL)
        assert match, f"{self.name}: no section '{title}'"
        return match[1]

    def rows(self, first: str) -> list[list[str]]:
        """The cells of all tables whose first column has this title."""
        found = table_rows(self.prose, first)
        assert found, f"{self.name}: no table of '{first}'"
        return found


def table_rows(text: str, first: str) -> list[list[str]]:
    """The cells of a text's tables whose first column has this title."""
    found, inside = [], False
    for line in text.splitlines():
        if re.match(rf"\|\s*{re.escape(first)}\s*\|", line):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not re.fullmatch(r"[|\s:-]+", line):
            found.append([cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


README = Page("README.md")
PAGES = [README, *(Page(str(path.relative_to(ROOT))) for path in sorted(DOCS.rglob("*.md")))]


def quoted(cell: str) -> list[str]:
    """The pieces of a cell in back-quotes."""
    return re.findall(r"`([^`]+)`", cell)
