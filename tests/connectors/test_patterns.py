"""Patterns of files: those of `glob`, but each folder and each file once."""

import os
from glob import glob
from pathlib import Path

import pytest

from connectors.files.closed_folders import closed_folders
from connectors.files.paths import files_of
from connectors.files.patterns import matching
from tests.command_line import command_line
from tests.integration.streams import json_lines, write_lines

NAMES = ("x.jsonl", "a/x.jsonl", "a/b/y.jsonl", "a/b/[c]/z.jsonl", "a/.hidden/h.jsonl", "d/b/y.jsonl", "d/.y.jsonl")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a few files at several depths."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "pattern",
    [
        "**",
        "**/*",
        "a/**",
        "**/*.jsonl",
        "a/**/y.*",
        "*/**/*.jsonl",
        "**/b/**/*.jsonl",
        "**/**/z*",
        "a*/b/*",
        "none/**",
    ],
)
@pytest.mark.parametrize("absolute", [False, True])
def test_files_are_those_of_glob_without_links(tree: Path, pattern: str, absolute: bool) -> None:
    given = str(tree / pattern) if absolute else pattern
    found = [path for path in matching(given) if os.path.isfile(path)]
    assert sorted(set(found)) == sorted({path for path in glob(given, recursive=True) if os.path.isfile(path)})


def test_folders_linked_into_themselves_are_entered_once(tree: Path) -> None:
    """With two such links `glob` would find 2^40 paths."""
    for link in ("a/again", "a/b/back", "loop"):
        Path(link).symlink_to(tree / "a", target_is_directory=True)
    Path("a/b/up").symlink_to("..")
    assert files_of("**/*.jsonl") == ["a/b/[c]/z.jsonl", "a/b/y.jsonl", "a/x.jsonl", "d/b/y.jsonl", "x.jsonl"]
    assert closed_folders("**/*.jsonl") == ""


def test_a_file_with_several_names_is_read_once(tmp_path: Path) -> None:
    """A link is passed over in a folder and in a pattern, if its file is there too."""
    (tmp_path / "in").mkdir()
    write_lines(tmp_path / "in" / "b.jsonl", [{"text": "one", "label": "x"}])
    (tmp_path / "in" / "a.jsonl").symlink_to("b.jsonl")
    os.link(tmp_path / "in" / "b.jsonl", tmp_path / "in" / "c.jsonl")
    (tmp_path / "in" / "deep").symlink_to(".")
    for number, address in enumerate(("in", "in/*.jsonl", "in/**/*.jsonl")):
        command_line("run", address, "--predictions", f"{number}.out", "--learner", "perceptron", cwd=tmp_path)
        assert [line["position"] for line in json_lines(tmp_path / f"{number}.out")] == ["in/b.jsonl:0"]
