"""Following a file as `tail -F` does, while another process writes to it, rotates and truncates it."""

import gzip
import os
from collections.abc import Iterator

import pytest
import zstandard

import connectors.files.file_reader
from connectors.files import FileSource
from streamlin.errors import ConfigError, ConnectorError
from tests.connectors.reading import HeaderLines, await_notice, await_payloads, context, payloads, positions_after
from tests.connectors.writer import Writer


@pytest.fixture
def writer() -> Iterator[Writer]:
    with Writer() as writer:
        yield writer


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def follow(tmp_path, notices):
    """Follows `app.log` or another file; closes the source at the end."""
    opened = []

    def follow(name="app.log", **kwargs) -> FileSource:
        opened.append(FileSource(str(tmp_path / name), context(follow=True, notice=notices.append, **kwargs)))
        return opened[-1]

    yield follow
    for source in opened:
        source.close()


@pytest.fixture
def log(tmp_path):
    return tmp_path / "app.log"


def nothing_more(source: FileSource) -> bool:
    """Whether two polls return nothing."""
    return source.poll(100) == [] and source.poll(100) == []


def test_a_growing_file(writer, log, follow):
    writer.open(log)
    writer.write("one\ntwo\n")
    source = follow()
    assert await_payloads(source, 2) == [b"one", b"two"]
    assert nothing_more(source)
    writer.write("three\n")
    assert await_payloads(source, 1) == [b"three"]
    assert source.progress() is None


def test_an_incomplete_line_waits_for_its_line_end(writer, log, follow):
    writer.open(log)
    source = follow()
    for piece in ("be", "gun, ", "and"):
        writer.write(piece)
        assert nothing_more(source)
    writer.write(" ended\nnext")
    assert await_payloads(source, 1) == [b"begun, and ended"]
    assert nothing_more(source)


def test_a_file_that_does_not_exist_yet(writer, log, follow, notices):
    source = follow()
    await_notice(source, notices, f"waiting for {log}: No such file or directory")
    writer.open(log)
    assert nothing_more(source)
    writer.write("one\n")
    assert await_payloads(source, 1) == [b"one"]
    assert len(notices) == 1


def test_rotation_reads_the_old_file_to_its_end_first(writer, log, follow):
    writer.open(log)
    writer.write("one\n")
    source = follow()
    assert await_payloads(source, 1) == [b"one"]
    writer.write("two\n")
    writer.rename(log, f"{log}.1")
    writer.write("three\n")
    assert await_payloads(source, 2) == [b"two", b"three"]
    writer.write("four\nunfinished")
    writer.open(log)
    writer.write("new\n")
    assert await_payloads(source, 3) == [b"four", b"unfinished", b"new"]


def test_offsets_begin_anew_in_the_new_file(writer, log, follow):
    writer.open(log)
    writer.write("one\n")
    source = follow()
    assert await_payloads(source, 1) == [b"one"]
    writer.rename(log, f"{log}.1")
    writer.open(log)
    writer.write("new\n")
    found = []
    while not found:
        found = source.poll(1)
    assert found[0].name(0) == f"{log}:0"


def test_the_old_file_is_read_until_the_new_has_content(writer, log, follow):
    """logrotate creates the new file; the daemon writes to the old one until it is told."""
    writer.open(log)
    writer.write("one\n")
    source = follow()
    assert await_payloads(source, 1) == [b"one"]
    writer.rename(log, f"{log}.1")
    log.touch()
    assert nothing_more(source)
    writer.write("late\n")
    assert await_payloads(source, 1) == [b"late"]
    writer.open(log)
    writer.write("new\n")
    assert await_payloads(source, 1) == [b"new"]


def test_many_rotations(writer, log, follow):
    writer.open(log)
    source = follow()
    for turn in range(5):
        writer.write(f"a{turn}\nb{turn}")
        assert await_payloads(source, 1) == [b"a%d" % turn]
        writer.rename(log, f"{log}.{turn}")
        writer.open(log)
        writer.write(f"c{turn}\n")
        assert await_payloads(source, 2) == [b"b%d" % turn, b"c%d" % turn]


def test_copytruncate(writer, log, follow, notices):
    writer.open(log)
    writer.write("one\ntwo\nunfin")
    source = follow()
    assert await_payloads(source, 2) == [b"one", b"two"]
    assert nothing_more(source)
    writer.copytruncate(log, f"{log}.1")
    assert await_payloads(source, 1) == [b"unfin"]
    writer.write("new\n")
    assert await_payloads(source, 1) == [b"new"]
    assert notices == [f"{log} was truncated or overwritten; it is read from its beginning again"]


def test_a_truncated_file_that_has_already_grown_past_the_position(writer, log, follow, notices):
    writer.open(log)
    writer.write("one\ntwo\n")
    source = follow()
    assert await_payloads(source, 2) == [b"one", b"two"]
    writer.copytruncate_and_write(log, f"{log}.1", "a longer line than all there was\nsecond\n")
    assert await_payloads(source, 2) == [b"a longer line than all there was", b"second"]
    assert len(notices) == 1


def test_deleted_and_created_anew(writer, log, follow):
    writer.open(log)
    writer.write("one\n")
    source = follow()
    assert await_payloads(source, 1) == [b"one"]
    writer.delete(log)
    writer.write("into the deleted file\n")
    assert await_payloads(source, 1) == [b"into the deleted file"]
    writer.open(log)
    writer.write("new\n")
    assert await_payloads(source, 1) == [b"new"]


def test_a_link_that_is_switched(writer, tmp_path, follow):
    (tmp_path / "1.log").write_bytes(b"one\nunfinished")
    (tmp_path / "link").symlink_to(tmp_path / "1.log")
    source = follow("link")
    assert await_payloads(source, 1) == [b"one"]
    (tmp_path / "2.log").write_bytes(b"two\n")
    (tmp_path / "new").symlink_to(tmp_path / "2.log")
    writer.rename(tmp_path / "new", tmp_path / "link")
    assert await_payloads(source, 2) == [b"unfinished", b"two"]


def test_every_file_has_its_own_header(writer, log, follow):
    writer.open(log)
    writer.write("a\n1\n")
    source = follow(framing=HeaderLines())
    assert await_payloads(source, 1) == [b"1"]
    writer.rename(log, f"{log}.1")
    writer.open(log)
    writer.write("b\n2\n")
    assert await_payloads(source, 1) == [b"2"]


def test_start_at_end_skips_existing_lines(writer, log, follow):
    writer.open(log)
    writer.write("one\nunfin")
    source = follow(options={"start": "end"})
    assert nothing_more(source)
    writer.write("ished\ntwo\n")
    assert await_payloads(source, 2) == [b"unfinished", b"two"]


def test_start_at_end_of_a_missing_file_is_its_beginning(writer, log, follow):
    source = follow(options={"start": "end"})
    writer.open(log)
    writer.write("one\n")
    assert await_payloads(source, 1) == [b"one"]


def stopped(source: FileSource, count: int):
    """The positions after the next `count` records."""
    found = []
    while sum(map(len, found)) < count:
        found += source.poll(count - sum(map(len, found))) or []
    source.close()
    return positions_after(found, count)


def test_following_resumes_after_a_stop(writer, log, follow, notices):
    writer.open(log)
    writer.write("one\ntwo\nthree\n")
    positions = stopped(FileSource(str(log), context(follow=True)), 2)
    source = follow(positions=positions, options={"start": "end"})
    assert await_payloads(source, 1) == [b"three"]
    writer.write("four\n")
    assert await_payloads(source, 1) == [b"four"]
    assert notices == []


def test_a_rotated_file_is_finished_first_after_a_stop(writer, log, follow, notices):
    writer.open(log)
    writer.write("one\ntwo\nthree\nunfinished")
    positions = stopped(FileSource(str(log), context(follow=True)), 1)
    writer.rename(log, f"{log}-20260101")
    writer.open(log)
    writer.write("new\n")
    source = follow(positions=positions)
    assert await_payloads(source, 4) == [b"two", b"three", b"unfinished", b"new"]
    assert notices == [f"{log}-20260101 was {log} before; it is read to its end first"]


def test_positions_in_a_rotated_file_are_those_of_the_path(writer, log, follow):
    writer.open(log)
    writer.write("one\ntwo\n")
    positions = stopped(FileSource(str(log), context(follow=True)), 1)
    writer.rename(log, f"{log}.1")
    (records,) = follow(positions=positions).poll(10)
    assert records.name(0) == f"{log}:4"
    assert records.key in positions
    assert payloads(follow(positions={records.key: records.position(1)}).poll(10)) == []


def test_a_resumed_rotated_file_may_still_grow(writer, log, follow):
    writer.open(log)
    writer.write("one\n")
    positions = stopped(FileSource(str(log), context(follow=True)), 1)
    writer.rename(log, f"{log}.1")
    source = follow(positions=positions)
    assert nothing_more(source)
    writer.write("two\n")
    assert await_payloads(source, 1) == [b"two"]
    writer.open(log)
    writer.write("new\n")
    assert await_payloads(source, 1) == [b"new"]


@pytest.mark.parametrize("how", ["moved away", "deleted", "overwritten"])
@pytest.mark.parametrize("done", [1, 2])
def test_a_file_gone_after_a_stop_gives_a_notice(writer, log, follow, notices, how, done):
    """It says how many bytes are known to be lost."""
    writer.open(log)
    writer.write("one\ntwo\n")
    positions = stopped(FileSource(str(log), context(follow=True)), done)
    if how == "moved away":
        (log.parent / "away").mkdir()
        writer.rename(log, log.parent / "away" / "app.log")
    elif how == "deleted":
        writer.delete(log)
    else:
        log.write_bytes(b"")
    log.touch()
    log.write_bytes(b"new\n" * 3)
    source = follow(positions=positions)
    assert await_payloads(source, 3) == [b"new"] * 3
    left = ["", "the 4 bytes that it had after offset 4 are", "what was added to it after offset 8 is"][done]
    assert notices == [
        f"the file that was read as {log} is gone or overwritten; {left} not read, and {log} is read from its beginning"
    ]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("grown", [False, True])
def test_a_file_truncated_while_stopped_is_read_on_in_its_copy(writer, log, follow, notices, suffix, grown):
    """logrotate's `copytruncate`, with `compress` or without; the log has grown past the position or not."""
    writer.open(log)
    writer.write("one\ntwo\n")
    positions = stopped(FileSource(str(log), context(follow=True)), 1)
    new = "a longer line than all there was" if grown else "new"
    writer.copytruncate(log, f"{log}.1")
    compress = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}[suffix]
    copy = log.with_name("app.log.1").rename(log.with_name(f"app.log.1{suffix}"))
    copy.write_bytes(compress(copy.read_bytes()))
    writer.write(f"{new}\n")
    source = follow(positions=positions)
    assert await_payloads(source, 2) == [b"two", new.encode()]
    assert notices == [f"{copy} was {log} before; it is read to its end first"]
    (positions,) = [positions_after(found, 1) for found in [follow(positions=positions).poll(1)]]
    assert await_payloads(follow(positions=positions), 1) == [new.encode()]


def test_a_file_truncated_before_it_was_read_is_read_on_in_its_copy(writer, log, follow, notices, monkeypatch):
    """The reader is behind the writer, by two blocks; without a copy a line says what is lost."""
    for copies in (True, False):
        monkeypatch.setattr(connectors.files.file_reader, "BLOCK", 8)
        writer.open(log)
        writer.write("one\ntwo\nthree\nfour\nfive\n")
        source = follow()
        assert await_payloads(source, 2) == [b"one", b"two"]
        monkeypatch.setattr(connectors.files.file_reader, "BLOCK", 1000)
        writer.copytruncate_and_write(log, f"{log}.1", "new\n")
        if copies:
            assert await_payloads(source, 4) == [b"three", b"four", b"five", b"new"]
        else:
            log.with_name("app.log.1").unlink()
            assert await_payloads(source, 1) == [b"new"]
        source.close()
        log.write_bytes(b"")
    assert notices == [
        f"{log}.1 was {log} before; it is read to its end first",
        f"{log} was truncated or overwritten; it is read from its beginning again; "
        "16 bytes that it had before are not read",
    ]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_logs_rotated_in_the_meantime_are_named(writer, log, follow, notices, suffix):
    """Twice while stopped: one of the two was never read, and no position tells how far."""
    writer.open(log)
    writer.write("one\ntwo\n")
    positions = stopped(FileSource(str(log), context(follow=True)), 1)
    writer.rename(log, f"{log}.2")
    os.utime(f"{log}.2", (1e9, 1e9))
    for name in (f"app.log.1{suffix}", "app.log.bak", "app.log.pos", "other.log.1"):
        log.with_name(name).write_bytes(b"between\n")
    log.with_name("app.log.3").write_bytes(b"one\ntwo\n")
    writer.open(log)
    writer.write("new\n")
    source = follow(positions=positions)
    assert await_payloads(source, 2) == [b"two", b"new"]
    assert notices == [
        f"{log}.2 was {log} before; it is read to its end first",
        f"app.log.1{suffix} (8 bytes) were rotated since then, and are not read",
    ]


def test_a_long_line_that_grows_slowly_is_not_kept(writer, log, follow, monkeypatch):
    monkeypatch.setattr(connectors.files.file_reader, "BLOCK", 1000)
    writer.open(log)
    source = follow(longest=5000)
    for _ in range(4):
        writer.write("x" * 3000)
        assert nothing_more(source)
    writer.write("\nnext\n")
    assert await_payloads(source, 2) == [b"x" * 12_000, b"next"]


@pytest.mark.parametrize("name", [".", "*.log", "app.log.gz", "app.log.zst"])
def test_paths_that_can_not_be_followed_are_refused(follow, name):
    with pytest.raises(ConfigError, match="--follow takes"):
        follow(name)


def test_a_file_with_wildcards_in_its_name_is_followed(tmp_path, follow):
    (tmp_path / "app[1].log").write_bytes(b"one\n")
    assert await_payloads(follow("app[1].log"), 1) == [b"one"]


def test_a_path_below_a_file_is_an_error(log, follow):
    log.write_bytes(b"")
    with pytest.raises(ConnectorError, match="can't be read: Not a directory"):
        follow("app.log/below")
