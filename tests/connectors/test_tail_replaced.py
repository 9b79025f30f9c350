"""A followed file that is replaced by a copy of itself, or moved by a link that is switched: running, and stopped."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import connectors.files.tail
from connectors.files import FileSource
from tests.connectors.reading import await_payloads, context, positions_after


@pytest.fixture
def log(tmp_path) -> Path:
    (tmp_path / "app.log").write_bytes(b"one\ntwo\nthree\n")
    return tmp_path / "app.log"


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def follow(notices):
    opened = []

    def follow(path, **kwargs) -> FileSource:
        opened.append(FileSource(str(path), context(follow=True, notice=notices.append, **kwargs)))
        return opened[-1]

    yield follow
    for source in opened:
        source.close()


def nothing_more(source: FileSource) -> bool:
    return all(source.poll(100) == [] for _ in range(4))


def copied(log: Path) -> None:
    """As rsync does."""
    shutil.copy(log, log.with_name("new"))
    with log.with_name("new").open("ab") as file:
        file.write(b"four\n")
    os.replace(log.with_name("new"), log)


def copied_with_a_backup(log: Path) -> None:
    shutil.copy(log, log.with_name("new"))
    with log.with_name("new").open("ab") as file:
        file.write(b"four\n")
    log.rename(log.with_name("app.log.bak"))
    log.with_name("new").rename(log)


def edited_by_sed(log: Path) -> None:
    subprocess.run(["sed", "-i", "$ a four", log], check=True)


REPLACED = [copied, copied_with_a_backup, edited_by_sed]


@pytest.mark.parametrize("replace", REPLACED)
def test_a_longer_copy_is_read_on_while_running(log, follow, notices, replace):
    source = follow(log)
    assert await_payloads(source, 3) == [b"one", b"two", b"three"]
    assert nothing_more(source)
    replace(log)
    assert await_payloads(source, 1) == [b"four"]
    with log.open("ab") as file:
        file.write(b"five\n")
    assert await_payloads(source, 1) == [b"five"]
    assert nothing_more(source)
    equal = f"another file is at {log}, which begins with the same 14 bytes; reading goes on behind them"
    assert notices == ([equal] if replace is copied_with_a_backup else [])


@pytest.mark.parametrize("replace", REPLACED)
@pytest.mark.parametrize("done", [1, 3])
def test_a_longer_copy_is_read_on_after_a_stop(log, follow, replace, done):
    found = follow(log).poll(3) or []
    replace(log)
    source = follow(log, positions=positions_after(found, done))
    assert await_payloads(source, 4 - done) == [b"one", b"two", b"three", b"four"][done:]
    assert nothing_more(source)


def test_a_copy_written_over_the_file_is_read_on(log, follow, notices, monkeypatch):
    """As by `cp`, which truncates the file first: the reader sees it empty, and in part."""
    monkeypatch.setattr(connectors.files.tail, "REWRITTEN_WITHIN", 60)
    source, content = follow(log), log.read_bytes() + b"four\n"
    assert await_payloads(source, 3) == [b"one", b"two", b"three"]
    for length in (0, 5, len(content)):
        log.write_bytes(content[:length])
        assert length == len(content) or nothing_more(source)
    assert await_payloads(source, 1) == [b"four"]
    assert notices == []
    log.write_bytes(b"one\nother\n")
    assert await_payloads(source, 2) == [b"one", b"other"]
    assert notices == [f"{log} was truncated or overwritten; it is read from its beginning again"]


def test_a_copy_taken_in_the_middle_of_a_line(log, follow):
    log.write_bytes(b"one\ntw")
    source = follow(log)
    assert await_payloads(source, 1) == [b"one"]
    assert nothing_more(source)
    log.with_name("new").write_bytes(b"one\ntwo\nthree\n")
    os.replace(log.with_name("new"), log)
    assert await_payloads(source, 2) == [b"two", b"three"]


def test_an_edited_copy_is_read_anew_with_a_line(log, follow, notices):
    source = follow(log)
    assert await_payloads(source, 3) == [b"one", b"two", b"three"]
    subprocess.run(["sed", "-i", "s/two/2/", log], check=True)
    assert await_payloads(source, 3) == [b"one", b"2", b"three"]
    assert notices == [f"{log} was replaced by a file with other bytes; it is read from its beginning"]


def test_a_first_line_without_end_is_a_record_of_a_rotated_file(log, follow):
    log.write_bytes(b"unfinished")
    source = follow(log)
    assert nothing_more(source)
    log.rename(log.with_name("app.log.1"))
    log.write_bytes(b"unfinished too\n")
    assert await_payloads(source, 2) == [b"unfinished", b"unfinished too"]


def test_a_new_log_that_begins_as_the_rotated_one_after_a_stop(log, follow, notices):
    """The same first lines: only the rest of the rotated file tells them apart."""
    found = follow(log).poll(2) or []
    log.rename(log.with_name("app.log.1"))
    log.write_bytes(b"one\ntwo\nother\n")
    source = follow(log, positions=positions_after(found, 2))
    assert await_payloads(source, 4) == [b"three", b"one", b"two", b"other"]
    assert notices == [f"{log}.1 was {log} before; it is read to its end first"]


def test_other_logs_of_the_folder_are_not_taken_for_it(log, follow, notices):
    """They begin with the same lines, and the log that was read is gone."""
    found = follow(log).poll(2) or []
    log.with_name("other.log").write_bytes(b"one\ntwo\nof another log\n")
    log.unlink()
    log.write_bytes(b"new\n")
    assert await_payloads(follow(log, positions=positions_after(found, 2)), 1) == [b"new"]
    assert "the 6 bytes that it had after offset 8 are not read" in notices[0]


@pytest.fixture
def today(tmp_path) -> Path:
    """A link to the folder of a day."""
    for day in ("monday", "tuesday"):
        (tmp_path / day).mkdir()
    (tmp_path / "monday" / "app.log").write_bytes(b"one\ntwo\n")
    (tmp_path / "today").symlink_to("monday")
    return tmp_path / "today"


def switch(today: Path, content: bytes = b"three\n") -> None:
    (today.parent / "tuesday" / "app.log").write_bytes(content)
    (today.parent / "new").symlink_to("tuesday")
    os.replace(today.parent / "new", today)


def test_a_link_to_another_folder_is_followed(today, follow, notices):
    """The positions are those of the path as given, before and after."""
    source = follow(today / "app.log")
    assert await_payloads(source, 2) == [b"one", b"two"]
    switch(today)
    found = []
    while not found:
        found = source.poll(9) or []
    assert found[0][0] == b"three"
    assert found[0].key == f"{today}/app.log"
    again = follow(today / "app.log", positions=positions_after(found, 1))
    assert nothing_more(again)
    assert notices == []


def test_a_link_switched_after_a_stop_loses_nothing(today, follow, notices):
    found = follow(today / "app.log").poll(1) or []
    switch(today)
    again = follow(today / "app.log", positions=positions_after(found, 1))
    assert await_payloads(again, 2) == [b"two", b"three"]
    assert notices == [f"{today.parent}/monday/app.log was {today}/app.log before; it is read to its end first"]


def test_a_folder_gone_after_a_switch_is_said(today, follow, notices):
    found = follow(today / "app.log").poll(1) or []
    switch(today)
    shutil.rmtree(today.parent / "monday")
    again = follow(today / "app.log", positions=positions_after(found, 1))
    assert await_payloads(again, 1) == [b"three"]
    assert notices == [
        f"the file that was read as {today}/app.log is gone or overwritten; the 4 bytes that it had after offset 4 are "
        f"not read, and {today}/app.log is read from its beginning"
    ]


def test_a_path_that_is_missing_at_first_goes_on_later(log, follow, notices):
    """A disk that is not mounted yet: the position waits for its file."""
    found, away = follow(log).poll(2) or [], log.parent / "away"
    away.mkdir()
    log.rename(away / "app.log")
    source = follow(log, positions=positions_after(found, 2))
    while not any("waiting for" in notice for notice in notices):
        assert source.poll(9) == []
    shutil.copy(away / "app.log", log)
    assert await_payloads(source, 1) == [b"three"]
