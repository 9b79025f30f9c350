"""The README and the pages of the site do what they show."""

import json
import re
import shlex
import tomllib
from textwrap import dedent
from typing import Any

import pytest
import typer.main

from streamlin import Pipeline
from streamlin.cli import app
from streamlin.config.loading import checked
from streamlin.config.presets import with_preset
from tests.docs.live import SERVICE, is_live
from tests.docs.pages import PAGES, Block, Page
from tests.docs.session import follow, session

RUN = ("console", "python", "text")
BLOCKS = [block for page in PAGES for block in page.blocks]


def blocks(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name != SERVICE and any(b.language in RUN and not is_live(b) for b in page.blocks)],
    ids=repr,
)
def test_a_page_can_be_followed_word_by_word(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block prints what the page shows; for those that need a broker see tests/integration/kafka."""
    wanted = [block for block in page.blocks if not is_live(block)]
    with session(monkeypatch) as own:
        shown = [block for block in wanted if block.language in ("console", "text")]
        assert follow(wanted, own) > 0 or not shown


def test_pages_have_enough_blocks_to_follow() -> None:
    """So that the parametrisation above does not miss them."""
    assert len(blocks("console")) > 30
    assert len(blocks("python")) > 30


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda block: block.place)
def test_toml_blocks_are_valid_configurations(block: Block) -> None:
    """A TOML block is a configuration or a project file."""
    tables = tomllib.loads(block.text)
    if block.file() != "pyproject.toml":
        checked(with_preset(tables))


@pytest.mark.parametrize("block", blocks("json"), ids=lambda block: block.place)
def test_json_blocks_are_json_lines(block: Block) -> None:
    for line in block.text.splitlines():
        assert isinstance(json.loads(line), dict)


@pytest.mark.parametrize("block", blocks("sh"), ids=lambda block: block.place)
def test_commands_that_are_not_run_have_known_options(block: Block) -> None:
    """Blocks of `sh` are not run, but their commands and options exist."""
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # a group
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["streamlin"]:
            arguments = [word for word in words[2:] if word != "&"]
            known[words[1]].make_context(words[1], arguments)


def test_the_example_in_the_docstring_of_pipeline_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its example runs."""
    example = dedent(re.search(r"::\n\n(.*?)\n\n    Param", Pipeline.__doc__ or "", re.DOTALL)[1])  # type: ignore[index]
    with session(monkeypatch) as own:
        (own.folder / "tickets.jsonl.gz").symlink_to(own.folder / "streamlin/demo/clickbait.jsonl.gz")
        names: dict[str, Any] = {"Pipeline": Pipeline}
        exec(example, names)
    assert names["pipeline"].metrics["events"] == 32_001
