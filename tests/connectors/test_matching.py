"""Which paths a source of files reads, or would read once they exist."""

import os
from pathlib import Path

import pytest

from connectors.files.matching import read_among
from connectors.files.paths import files_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: d/a.jsonl, d/deep/b.jsonl, .hidden/c.jsonl, and a link `l` to d."""
    for name in ("d/a.jsonl", "d/deep/b.jsonl", "d/.hidden/c.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "l").symlink_to("d")
    monkeypatch.chdir(tmp_path)
    return tmp_path


PATHS = ["d/z.jsonl", "d/z.log", "d/.z.jsonl", "d/deep/z.jsonl", "d/new/z.jsonl", "d/.hidden/z.jsonl", "z.jsonl"]


@pytest.mark.parametrize(
    "address", ["d", "d/", "l", "d/*", "d/*.jsonl", "l/*.jsonl", "d/**", "**/*.jsonl", "d/*/*", "d/.*"]
)
def test_new_paths_match_as_the_files_read_do(folder: Path, address: str) -> None:
    """What is said of a path before it exists is what is read once it does."""
    said = read_among(address, PATHS)
    for path in PATHS:
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).touch()
    read = {os.path.realpath(path) for path in files_of(address)}
    assert said == [path for path in PATHS if os.path.realpath(path) in read]
    assert read_among(address, PATHS) == said


def test_files_are_known_by_any_name(folder: Path) -> None:
    """Hard links, links to files of the folder, and links that lead into it."""
    os.link("d/a.jsonl", "hard")
    Path("soft").symlink_to("d/a.jsonl")
    Path("dangling").symlink_to("d/later.jsonl")
    for address in ("d", "d/*.jsonl", "l/*"):
        assert read_among(address, ["hard", "soft", "dangling", "l/later.jsonl", "other"]) == [
            *("hard", "soft", "dangling", "l/later.jsonl"),
        ]


def test_a_link_in_the_folder_is_read_as_its_target(folder: Path) -> None:
    Path("outside.jsonl").touch()
    Path("d/link.jsonl").symlink_to("../outside.jsonl")
    assert read_among("d", ["outside.jsonl"]) == ["outside.jsonl"]


def test_a_name_that_exists_is_no_pattern(folder: Path) -> None:
    Path("d/[a].jsonl").touch()
    assert read_among("d/[a].jsonl", ["d/[a].jsonl", "d/a.jsonl"]) == ["d/[a].jsonl"]
    assert read_among("*/../*.nothing", ["x.nothing"]) == ["x.nothing"]
