"""Files that are copied, moved, rotated, or still being written between runs: each event is learned once."""

import gzip
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.command_line import Done, command_line
from tests.integration.processes import finish, start, until
from tests.integration.streams import json_lines, write_lines

EVENTS = [{"id": str(i), "text": f"event {i}", "label": "xy"[i % 2]} for i in range(8)]


class Runs:
    """Runs with one checkpoint and one file of predictions."""

    def __init__(self, folder: Path) -> None:
        self.out, self._state, self._report = folder / "out.jsonl", folder / "state", folder / "report.json"

    def arguments(self, source: object, *more: object) -> tuple[object, ...]:
        outputs = ("--predictions", self.out, "--checkpoint", self._state, "--report", self._report)
        return ("run", source, *outputs, "--learner", "perceptron", *more)

    def run(self, source: object, *more: object) -> Done:
        return command_line(*self.arguments(source, *more))

    def ids(self) -> str:
        """Of all events that were predicted, in order."""
        return "".join(line["id"] for line in json_lines(self.out)) if self.out.exists() else ""

    def report(self) -> dict[str, Any]:
        return json.loads(self._report.read_text())

    def positions(self) -> dict[str, Any]:
        return command_line("inspect", self._state, "--json").lines[0]["positions"]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def replace_by_copy(log: Path, *events: dict[str, Any]) -> None:
    """As rsync and `sed -i` do."""
    added = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    log.with_name("new").write_bytes(log.read_bytes() + added)
    os.replace(log.with_name("new"), log)


def test_a_followed_log_replaced_by_a_longer_copy(runs: Runs, tmp_path: Path) -> None:
    """While it is followed, after a stop, and at rest."""
    log = write_lines(tmp_path / "app.jsonl", EVENTS[:3])

    def follow(expected: str) -> "subprocess.Popen[bytes]":
        process = start(*runs.arguments(log, "--follow"))
        until(lambda: runs.ids() == expected, process)
        return process

    process = follow("012")
    replace_by_copy(log, EVENTS[3])
    until(lambda: runs.ids() == "0123", process)
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 0
    replace_by_copy(log, EVENTS[4])
    process = follow("01234")
    process.send_signal(signal.SIGTERM)
    assert finish(process)[::2] == (0, "")
    replace_by_copy(log, EVENTS[5])
    assert runs.run(log).err == ""
    assert runs.ids() == "012345"


@pytest.mark.parametrize("how", ["restored", "on another disk"])
def test_a_folder_that_was_copied_is_not_learned_again(runs: Runs, tmp_path: Path, how: str) -> None:
    """Stopped in the middle of a file; a file of it was not read, and one is new."""
    folder, copy = tmp_path / "logs", tmp_path / "copy"
    folder.mkdir()
    write_lines(folder / "a.jsonl", EVENTS[:3])
    write_lines(folder / "b.jsonl", EVENTS[3:6])
    runs.run(folder, "--limit", 4)
    shutil.copytree(folder, copy)
    if how == "restored":
        shutil.rmtree(folder)
        copy = copy.rename(folder)
    write_lines(copy / "c.jsonl", EVENTS[6:])
    assert ("reading goes on behind" in runs.run(copy).err) == (how != "restored")
    assert runs.ids() == "01234567"
    assert runs.run(copy).out.startswith("8 events")
    assert runs.run(folder).out.startswith("8 events")


def test_a_source_is_called_by_its_path_as_given(runs: Runs, tmp_path: Path) -> None:
    """A link stays a link, and a file is the same by all its names."""
    (tmp_path / "monday").mkdir()
    log = write_lines(tmp_path / "monday" / "app.jsonl", EVENTS[:3])
    (tmp_path / "today").symlink_to("monday")
    given = tmp_path / "today" / "app.jsonl"
    runs.run(given, "--limit", 2)
    ((source, parts),) = runs.positions().items()
    assert (source, list(parts), parts[str(given)]["file"]) == (f"file:{given}", [str(given)], str(log))
    for name in (log, tmp_path / "monday", given, tmp_path / "today", log):
        assert runs.run(name).out.startswith("3 events")
    assert runs.ids() == "012"


def test_a_link_that_is_switched_between_runs(runs: Runs, tmp_path: Path) -> None:
    """The rest of the old file is read first, then the new one; at rest."""
    for day, events in ("monday", EVENTS[:3]), ("tuesday", EVENTS[3:5]):
        (tmp_path / day).mkdir()
        write_lines(tmp_path / day / "app.jsonl", events)
    today = tmp_path / "today"
    today.symlink_to("monday")
    runs.run(today / "app.jsonl", "--limit", 1)
    today.unlink()
    today.symlink_to("tuesday")
    assert runs.run(today / "app.jsonl").err == (
        f"streamlin: {tmp_path}/monday/app.jsonl was {today}/app.jsonl before; it is read to its end first\n"
    )
    assert runs.ids() == "01234"
    assert runs.run(today / "app.jsonl").err == ""
    assert runs.ids() == "01234"


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@pytest.mark.parametrize("in_folder", [False, True])
def test_half_a_line_of_a_growing_archive_is_mended_later(
    runs: Runs, tmp_path: Path, suffix: str, in_folder: bool
) -> None:
    """A file that is still being written: what could not be read is a dead letter until it is whole."""
    (tmp_path / "logs").mkdir()
    path = tmp_path / "logs" / f"a.jsonl.{suffix}"
    content = b"".join(json.dumps(event).encode() + b"\n" for event in EVENTS)
    whole = gzip.compress(content, 0) if suffix == "gz" else stored(content)
    source = path.parent if in_folder else path
    dead = ("--dead-letters", tmp_path / "dead.jsonl")
    for length in (len(whole) // 2, len(whole) // 2, len(whole) // 2 + 9, len(whole) - 70):
        path.write_bytes(whole[:length])
        runs.run(source, *dead)
        report = runs.report()
        assert report["dead_letters"] == 1
        assert list(report["dead_letters_by_kind"].values()) == [1]
        assert "01234567".startswith(runs.ids())
    path.write_bytes(whole)
    assert "what was incomplete before is read again" in runs.run(source, *dead).err
    report = runs.report()
    assert (report["events"], report["dead_letters"], report["dead_letters_by_kind"]) == (8, 0, {})
    assert runs.ids() == "01234567"
    assert runs.run(source, *dead).err == ""


def stored(content: bytes) -> bytes:
    """A Zstandard frame of many blocks, so that its beginning can be read."""
    encoder = zstandard.ZstdCompressor().compressobj()
    pieces = [
        encoder.compress(line) + encoder.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for line in content.splitlines(True)
    ]
    return b"".join(pieces) + encoder.flush()


@pytest.mark.parametrize("follow", [False, True])
def test_half_a_line_of_a_growing_file_is_mended_later(runs: Runs, tmp_path: Path, follow: bool) -> None:
    """At rest the last line is a record without its end, too; the next run finds more of it."""
    path = tmp_path / "app.jsonl"
    content = b"".join(json.dumps(event).encode() + b"\n" for event in EVENTS)
    line = len(content) // len(EVENTS)
    for length in (2 * line + 20, 2 * line + 30, 3 * line + 20):
        path.write_bytes(content[:length])
        runs.run(path)
        assert (runs.report()["dead_letters"], runs.ids()) == (1, "01234567"[: length // line])
        assert list(runs.report()["dead_letters_by_kind"]) == ["not JSON"]
    path.write_bytes(content)
    if follow:
        process = start(*runs.arguments(path, "--follow"))
        until(lambda: runs.ids() == "01234567", process)
        process.send_signal(signal.SIGTERM)
        done = finish(process)
    else:
        done = runs.run(path)
    assert done.err == f"streamlin: {path}:{3 * line}: what was incomplete before is read again\n"
    assert (runs.report()["dead_letters"], runs.report()["dead_letters_by_kind"]) == (0, {})
    assert runs.ids() == "01234567"


def test_the_rest_of_a_line_that_was_learned_is_skipped(runs: Runs, tmp_path: Path) -> None:
    """Half a line of text is an event; only a line end behind it, or nothing, makes it a whole one."""
    path = tmp_path / "app.log"
    contents = {
        b"one\nhalf": 2,
        b"one\nhalf\n": 2,
        b"one\nhalf\nthr": 3,
        b"one\nhalf\nthree\nfour": 4,
        b"one\nhalf\nthree\nfour\r\n": 4,
    }
    for content, events in contents.items():
        path.write_bytes(content)
        told = runs.run(path).err
        assert runs.report()["events"] == events
        assert (told != "") == (content[-10:] == b"three\nfour")
        if told:
            assert told.endswith(
                "app.log:9: this line was read before it was complete; the 3 bytes that were added to it are not read\n"
            )
