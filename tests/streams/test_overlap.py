"""Refusing outputs that would overwrite what is read, feed it, or overwrite each other."""

import os
from pathlib import Path

import pytest

from streamlin.errors import ConfigError
from streamlin.streams.overlap import file_place, refuse_overlaps, sink_place, source_place


def check(source: str, *sinks: str) -> None:
    refuse_overlaps(
        [source_place("source.url", source)], [sink_place(f"sinks.{n}", sink) for n, sink in enumerate(sinks)]
    )


@pytest.mark.parametrize("sink", ["kafka://h:1/b", "kafka://h:1/b?acks=all"])
def test_writing_to_the_topic_that_is_read_is_refused(sink: str) -> None:
    with pytest.raises(ConfigError, match=r"^sinks\.0: kafka://h:1/b.* is the topic that is read; give another one$"):
        check("kafka://h:1/a,b?group=g", sink)


@pytest.mark.parametrize("sink", ["kafka://h:1/c", "kafka://other:1/b", "null://h:1/b", "-", "b"])
def test_writing_to_other_topics_is_allowed(sink: str) -> None:
    check("kafka://h:1/a,b", sink)


@pytest.mark.parametrize("name", ["in.jsonl", "link", "hard", "linked/in.jsonl", "linked/../d/./in.jsonl"])
def test_writing_to_the_file_that_is_read_is_refused(tmp_path: Path, name: str) -> None:
    """By any of its names, which the message holds as they were given."""
    folder = tmp_path / "d"
    folder.mkdir()
    file, output = folder / "in.jsonl", folder / name
    file.touch()
    (folder / "link").symlink_to(file)
    (folder / "linked").symlink_to(folder)
    os.link(file, folder / "hard")
    with pytest.raises(ConfigError) as refusal:
        check(f"{file}?rate=10", f"{output}?mode=overwrite")
    expected = f"sinks.0: {output}?mode=overwrite is also read (source.url: {file}?rate=10); write to another file"
    assert str(refusal.value) == expected


def test_writing_to_other_files_and_to_devices_is_allowed(tmp_path: Path) -> None:
    file, pipe = tmp_path / "in.jsonl", tmp_path / "pipe"
    file.touch()
    os.mkfifo(pipe)
    check(str(file), str(tmp_path / "out.jsonl"), str(tmp_path / "in.jsonl.out"))
    check("/dev/null", "/dev/null", "/dev/null")
    check(str(tmp_path), str(pipe), str(pipe))


def test_a_file_that_a_followed_source_waits_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is also read"):
        check(str(tmp_path / "later.log"), str(tmp_path / "." / "later.log"))


def test_one_file_for_two_outputs_is_refused(tmp_path: Path) -> None:
    """Also under two names, before it exists; two reports are two outputs."""
    path, link = tmp_path / "out.jsonl", tmp_path / "link"
    link.symlink_to(path)
    for other in (f"file://{path}", str(link)):
        with pytest.raises(
            ConfigError, match=r"^sinks\.1: .* is also written \(sinks\.0: .*\); write to another file$"
        ):
            check("null.jsonl", f"{path}?mode=overwrite", other)
    assert not path.exists()
    with pytest.raises(ConfigError, match=r"^--report: .* is also written"):
        refuse_overlaps([], [file_place("--report", path), file_place("--report", path)])
    path.touch()
    os.link(path, tmp_path / "hard")
    with pytest.raises(ConfigError, match="is also written"):
        check("null.jsonl", str(path), str(tmp_path / "hard"))
