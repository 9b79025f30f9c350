"""SOURCE and sink names."""

import os
from pathlib import Path

import pytest

from streamlin.errors import ConfigError
from streamlin.streams.addresses import Address, parse_address


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "scheme", "address", "options"),
    [
        ("-", "stdin", "-", {}),
        ("-?format=csv&header=false", "stdin", "-", {"format": "csv", "header": "false"}),
        ("-?", "stdin", "-", {}),
        ("in.jsonl", "file", "in.jsonl", {}),
        ("a b/ü.jsonl.gz", "file", "a b/ü.jsonl.gz", {}),
        ("in.jsonl?format=json", "file", "in.jsonl", {"format": "json"}),
        ("in.csv?delimiter=%09&columns=a,b", "file", "in.csv", {"delimiter": "\t", "columns": "a,b"}),
        ("in.csv?delimiter=", "file", "in.csv", {"delimiter": ""}),
        ("logs/day-?.log", "file", "logs/day-?.log", {}),
        ("logs/day-?.log?preset=bgl", "file", "logs/day-?.log", {"preset": "bgl"}),
        ("logs/[ab]?.log?format=regex&preset=bgl", "file", "logs/[ab]?.log", {"format": "regex", "preset": "bgl"}),
        ("x.log?pattern=(?P<text>.*)", "file", "x.log", {"pattern": "(?P<text>.*)"}),
        ("100%.jsonl", "file", "100%.jsonl", {}),
        ("a#b.jsonl", "file", "a#b.jsonl", {}),
        ("c:x.jsonl", "file", "c:x.jsonl", {}),
        ("file:x.jsonl", "file", "file:x.jsonl", {}),
        ("file:///var/log/x.jsonl.gz?format=json", "file", "/var/log/x.jsonl.gz", {"format": "json"}),
        ("file://localhost/x", "file", "/x", {}),
        ("file:///a%20b/%C3%BC", "file", "/a b/ü", {}),
        ("file:///logs/a#1.log?preset=bgl", "file", "/logs/a#1.log", {"preset": "bgl"}),
        ("file:///x?pattern=(?P<text>[^#]*)", "file", "/x", {"pattern": "(?P<text>[^#]*)"}),
        ("synthetic://?events=100000&labels=4", "synthetic", "", {"events": "100000", "labels": "4"}),
        ("synthetic:", "synthetic", "", {}),
        ("null://", "null", "", {}),
        ("kafka://host:9092/topic?group=g", "kafka", "host:9092/topic", {"group": "g"}),
        ("kafka://a:9092,b:9092/topic", "kafka", "a:9092,b:9092/topic", {}),
        ("kafka://[::1]:9092/topic", "kafka", "[::1]:9092/topic", {}),
    ],
)
def test_addresses_are_parsed(text: str, scheme: str, address: str, options: dict[str, str]) -> None:
    assert parse_address(text, "stdin") == Address(scheme, address, options)


def test_a_dash_has_the_scheme_of_its_place() -> None:
    assert parse_address("-", "stdout").scheme == "stdout"


def test_an_existing_path_is_used_unchanged(empty_folder: Path) -> None:
    for name in ("a?b=c", "what?.jsonl?format=json", "[x]"):
        (empty_folder / name).touch()
        assert parse_address(name, "stdin") == Address("file", name)


def test_an_existing_path_may_be_followed_by_options(empty_folder: Path) -> None:
    (empty_folder / "a?b=c.txt").touch()
    assert parse_address("a?b=c.txt?format=text", "stdin") == Address("file", "a?b=c.txt", {"format": "text"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the path is empty: expected a path, '-' or a URL"),
        ("?format=json", "the path is empty"),
        ("file://", "the path is empty"),
        ("a\0b", "the path 'a\\\\x00b' contains a NUL character"),
        ("file:///a%00b", "the path '/a\\\\x00b' contains a NUL character"),
        ("file://x.jsonl", r"names the host 'x.jsonl': a file URL has three slashes: file:///path"),
        ("in.csv?format=csv&format=json", "'in.csv\\?format=csv&format=json' gives the option 'format' twice"),
        ("in.csv?format=csv&header", "invalid options in 'in.csv\\?format=csv&header': expected key=value&key=value"),
        ("-?header", "invalid options in '-\\?header': expected key=value"),
        ("file:///x?=1", "invalid options in 'file:///x\\?=1': expected key=value"),
        ("kafka://[::1/topic", "invalid URL 'kafka://\\[::1/topic'"),
    ],
)
def test_a_wrong_address_is_explained_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        parse_address(text, "stdin")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "file://user:secret@host/x",
        "file://user:sec/ret@host/x",
        "file://user%3Asecret%40host/x",
        "kafka://user:secret@[::1/topic",
        "file:///x?password=secret&header",
        "kafka://h/t?sasl_password=secret&a=1&a=2",
    ],
)
def test_a_wrong_address_is_shown_without_secrets(url: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_address(url, "stdin")
    assert "sec" not in str(error.value)


def test_impossible_file_names_are_left_to_the_connector() -> None:
    for text in ("x" * 5000, "x" * 300 + "?format=json"):
        assert parse_address(text, "stdin").scheme == "file"


def test_a_path_in_an_unreadable_folder_is_parsed(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks of the file system must not raise; root may read any folder, so the system call is made to refuse."""

    def refuse(path: object, **_: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "stat", refuse)
    assert parse_address("closed/x.jsonl?format=json", "stdin") == Address("file", "closed/x.jsonl", {"format": "json"})


def test_equal_places_have_equal_keys(empty_folder: Path) -> None:
    (empty_folder / "link").symlink_to(empty_folder / "in.jsonl")
    names = [
        "in.jsonl",
        "./in.jsonl?rate=5",
        f"file://{empty_folder}/in.jsonl",
        f"{empty_folder}/x/../in.jsonl",
        "link",
    ]
    assert {parse_address(name, "stdin").key for name in names} == {f"file:{empty_folder.resolve()}/in.jsonl"}
    assert parse_address("kafka://h:1/t?group=a", "stdin").key == parse_address("kafka://h:1/t", "stdin").key
    assert parse_address("-", "stdin").key != parse_address("-", "stdout").key


def test_circular_links_have_a_key(empty_folder: Path) -> None:
    (empty_folder / "a").symlink_to("b")
    (empty_folder / "b").symlink_to("a")
    assert parse_address("a", "stdin").key.startswith("file:")


def test_a_plus_sign_in_a_query_is_kept() -> None:
    """Patterns often contain them; a blank is written as %20."""
    assert parse_address(r"x.log?pattern=(\S+)%20(.*)", "stdin").options == {"pattern": r"(\S+) (.*)"}
