"""What the pages say of the built-in learners, by the names of the blocks."""

import re
from collections.abc import Mapping
from itertools import pairwise

from generator.blocks import block, table
from generator.docstrings import entries, introduction
from generator.keys import own_keys
from streamlin.learners import KINDS
from streamlin.parsing.kinds import KINDS as PARSERS
from streamlin.tagging.kinds import KINDS as TAGGERS
from streamlin.topics.kinds import KINDS as CLUSTERERS

_SECTIONS = [*KINDS, "mixture"]
"""The kinds in the order of their sections in docs/learners.md."""


def parameter_tables() -> dict[str, str]:
    """The tables of docs/learners.md."""
    return {f"parameters of {kind}": _parameters(kind) for kind in KINDS}


def key_table() -> dict[str, str]:
    """The table of docs/configuration.md."""
    blocks: dict[str, Mapping[str, type]] = {
        "keys of built-in learners": KINDS,
        "keys of taggers": TAGGERS,
        "keys of parsers": PARSERS,
        "keys of clusterers": CLUSTERERS,
    }
    titles = ["key", "values", "default", "means"]
    return {
        name: table(titles, [[f"`learners.{kind}.{key}`", *cells] for kind in kinds for key, *cells in _rows(kind)])
        for name, kinds in blocks.items()
    }


def reference() -> dict[str, str]:
    """The entries of docs/reference/learners.md."""
    classes = [f"::: streamlin.{learner.__name__}\n    options:\n      members: false" for learner in KINDS.values()]
    return {"built-in learners": "\n\n".join(classes)}


def with_sections(page: str) -> str:
    """The page with a section for each learner: a learner that has none gets one, for its author to go on with."""
    for kind, following in reversed(list(pairwise(_SECTIONS))):
        if not _heading(kind).search(page):
            before, found, after = re.split(f"({_heading(following).pattern})", page, maxsplit=1, flags=re.MULTILINE)
            page = f"{before}{_section(kind)}\n\n{found}{after}"
    return page


def _heading(kind: str) -> re.Pattern[str]:
    return re.compile(rf"^## .*`{kind}`$", re.MULTILINE)


def _section(kind: str) -> str:
    title = f"## {kind.replace('_', ' ').capitalize()}: `{kind}`"
    return "\n\n".join([title, introduction(KINDS[kind]), block(f"parameters of {kind}", _parameters(kind))])


def _parameters(kind: str) -> str:
    rows = [[f"`{name}`", *cells] for name, *cells in _rows(kind)]
    return table(["parameter", "values", "default", "meaning"], rows) if rows else "It has no parameters."


def _rows(kind: str) -> list[list[str]]:
    """For each parameter: name, values, default, meaning."""
    keys = own_keys(kind)
    learner: type = {**KINDS, **TAGGERS, **PARSERS, **CLUSTERERS}[kind]
    meanings = entries(learner, "Parameters", list(keys))
    return [[name, key.values, key.default, meanings[name]] for name, key in keys.items()]
