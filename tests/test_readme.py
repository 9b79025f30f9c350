"""The README tells the truth: what it shows is run, what it lists is compared with what there is.

Of its fenced blocks, from top to bottom and all in one folder:

console : each `$ ` line is run by bash; the lines below it are what it prints, times and paths aside.
python, toml : written to a file where the first line is a comment with the file's name; other Python is executed, and
    a `text` block right behind it is what it prints.
sh : what a reader may type, but a test does not.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main
from pydantic import BaseModel

from connectors.synthetic_options import SyntheticOptions
from streamlin.cli import app
from streamlin.config import LEARNER_MODELS, RunConfig, ViewConfig
from streamlin.formats import FORMATS, format_of, option_names
from streamlin.formats.log_presets import PRESETS
from streamlin.settings import parse_value

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
LIVE = "Live from Apache Kafka"
FOLDER = "/srv/try"
"""What the README calls the folder that it runs in."""
_NEWS = re.compile(r"streamlin: (compiling |(\d+ % · )?[\d,]+ events · )|bash: .*\bKilled\b")
"""What a slow machine, or bash, says more."""


class Block(NamedTuple):
    """line : of the README, where the block begins."""

    line: int
    language: str
    text: str
    follows: str
    """What stands between the block before and this one."""
    heading: str
    """Of the section that it is in."""


def blocks() -> list[Block]:
    """The fenced blocks of the README."""
    found, end = [], 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        line = README.count("\n", 0, match.start()) + 1
        heading = re.findall(r"^#+ (.*)$", README[: match.start()], re.MULTILINE)[-1]
        found.append(Block(line, match[1], match[2], README[end : match.start()], heading))
        end = match.end()
    return found


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Each command of a console block and what is shown below it."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *shown = re.split(r"(?<!\\)\n", part, maxsplit=1)
        yield command, shown[0] if shown else ""


def comparable(printed: str, folder: str) -> str:
    """What is printed, without what differs from run to run: times, paths, and news."""
    lines = []
    for line in printed.replace(folder, FOLDER).splitlines():
        line = re.sub(r"[\d.]+ s, [\d,]+ events/s", "1.0 s, 1 events/s", line)
        line = re.sub(r" {2,}", "  ", line).rstrip()
        if not _NEWS.match(line):
            lines.append(line)
    return "\n".join(lines).strip("\n")


class Session:
    """A folder in which the README is followed, with streamlin on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: dict[str, Any] = {"__name__": "readme"}
        self._printed = ""
        (folder / "streamlin").mkdir()
        (folder / "streamlin/demo").symlink_to(ROOT / "streamlin/demo")

    def follow(self, block: Block) -> Iterator[tuple[str, str, str]]:
        """Do what a block says: what was done, what the README shows of it, what was really printed."""
        name = re.match(r"# ([\w./-]+\.(?:py|toml))\n", block.text)
        if name and block.language in ("python", "toml"):
            (self.folder / name[1]).write_text(block.text, encoding="utf-8")
            if name[1] == "pyproject.toml":
                self._install(tomllib.loads(block.text)["project"])
        elif block.language == "console":
            for command, shown in commands(block):
                yield command, shown, self._run(command)
        elif block.language == "python":
            self._printed = self._execute(block)
        elif block.language == "text" and not block.follows.strip():
            yield "the Python above", block.text, self._printed

    def _run(self, command: str) -> str:
        """Standard output and standard error of a shell command."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
        path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        modules = os.pathsep.join([str(self.folder), *filter(None, [environment.get("PYTHONPATH")])])
        environment |= {"PATH": path, "PYTHONPATH": modules, "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        return done.stdout.decode()

    def _execute(self, block: Block) -> str:
        """What Python prints; names live on in the blocks below."""
        printed = StringIO()
        code = compile("\n" * block.line + block.text, "README.md", "exec")
        with redirect_stdout(printed):
            exec(code, self._names)
        return printed.getvalue()

    def _install(self, project: Mapping[str, Any]) -> None:
        """What `pip install .` would leave of a project: that it is there, and its entry points."""
        about = self.folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        about.mkdir()
        about.joinpath("METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        points = "\n".join(
            f"[{group}]\n" + "\n".join(f"{name} = {target}" for name, target in entries.items())
            for group, entries in project["entry-points"].items()
        )
        about.joinpath("entry_points.txt").write_text(points)


def test_what_it_shows_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block does what the README says, word by word."""
    with tempfile.TemporaryDirectory(prefix="readme", dir="/tmp") as folder:  # a short path: tables have 100 columns
        monkeypatch.chdir(folder)
        monkeypatch.syspath_prepend(folder)
        session = Session(Path(folder))
        followed = 0
        for block in blocks():
            if block.heading == LIVE:  # needs a broker, see tests/integration/kafka
                continue
            for what, shown, printed in session.follow(block):
                followed += 1
                expected = comparable(shown, FOLDER)
                assert comparable(printed, folder) == expected, f"README.md, block at line {block.line}: {what}"
        assert followed > 20


def section(title: str) -> str:
    """The text below a heading, up to the next heading; without what is fenced."""
    match = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", PROSE, re.MULTILINE | re.DOTALL)
    assert match, f"no section '{title}'"
    return match[1]


def rows(title: str, text: str) -> list[list[str]]:
    """The rows of the table in `text` whose first column has this title."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(rf"\|\s*{re.escape(title)}\s*\|", line))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


def quoted(cell: str) -> list[str]:
    """What stands in back-quotes in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def test_commands_and_options() -> None:
    """The table of options lists, for each command, the options that it has."""
    real = {
        (name, f"{parameter.opts[0]} {parameter.metavar or ''}".strip())
        for name, command in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]  # a group
        for parameter in command.params
        if parameter.param_type_name == "option" and parameter.name != "help" and not parameter.hidden
    }
    listed = {
        (command, option)
        for option_cell, command_cell, _ in rows("option", section("Commands"))
        for option in quoted(option_cell)
        for command in quoted(command_cell)
    }
    assert listed == real


def test_commands_are_all_there() -> None:
    """The table of commands has each command."""
    listed = {quoted(row[0])[0].split()[1] for row in rows("command", section("Commands"))}
    assert listed == set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]  # a group


def defaults() -> dict[str, Any]:
    """Dotted key -> default, of every key that a configuration may have."""
    keys: dict[str, Any] = {}
    for table, model in RunConfig():
        if isinstance(model, BaseModel):
            keys |= {f"{table}.{key}": value for key, value in model if key != "views"}
    keys |= {f"features.VIEW.{key}": value for key, value in ViewConfig()}
    for kind, learner in LEARNER_MODELS.items():
        for key, field in learner.model_fields.items():
            if key in ("kind", "name", "features"):
                keys[f"learners.NAME.{key}"] = None if key != "features" else field.default
            else:
                keys[f"learners.{kind}.{key}"] = None if field.is_required() else field.default
    return keys


def test_configuration_keys() -> None:
    """The table of keys has every key and its default, and no other."""
    listed = {}
    for key, default, _ in rows("key", section("Configuration")):
        values = quoted(default)
        listed[quoted(key)[0]] = parse_value(values[0]) if values else None
    as_toml = {key: list(value) if isinstance(value, tuple) else value for key, value in defaults().items()}
    assert {
        key: [value] if isinstance(as_toml.get(key), list) and isinstance(value, str) else value
        for key, value in listed.items()
    } == as_toml


def test_formats() -> None:
    """The table of formats has each format, its suffixes and its options."""
    table = rows("format", section("Formats"))
    assert [quoted(row[0])[0] for row in table] == list(FORMATS)
    for name_cell, suffixes, _, options in table:
        (name,) = quoted(name_cell)
        assert {format_of(f"x{suffix}") for suffix in quoted(suffixes)} <= {name}
        assert {option.split("=")[0] for option in quoted(options)} == option_names(name)


def test_log_presets() -> None:
    """The presets are those there are."""
    (line,) = re.findall(r"^Presets of `regex`: ([^.]*)", section("Formats"), re.MULTILINE)
    assert quoted(line) == list(PRESETS)


def test_synthetic_options() -> None:
    """The options of `synthetic://` are those there are, with their defaults."""
    listed = {
        quoted(name)[0]: (quoted(default) or [None])[0] for name, default, _ in rows("option", section("Synthetic"))
    }
    real = {field.name: None if field.default is None else str(field.default) for field in fields(SyntheticOptions)}
    assert listed == real


def test_make_targets() -> None:
    """Each `make …` is a target of the Makefile."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert {"demo", "test", "lint", "bench"} <= named <= targets


def test_links() -> None:
    """Links within the repository lead somewhere."""
    anchors = {
        re.sub(r"[^\w -]", "", title).replace(" ", "-").lower()
        for title in re.findall(r"^#+ (.*)$", PROSE, re.MULTILINE)
    }
    for target in re.findall(r"\]\((?!https?://)([^)]+)\)", PROSE):
        path, _, anchor = target.partition("#")
        assert (ROOT / path).exists() if path else anchor in anchors, target
