"""The same bytes before a position are the same file, whatever its device, inode and name; at rest."""

import gzip
import os
import shutil
from collections.abc import Mapping

import pytest
import zstandard

from connectors.files import FileSource
from streamlin.events import Position
from tests.connectors.reading import HeaderLines, context, payloads, positions_after, read_file

ONE, TWO, THREE, FOUR = (b"line %d, with its own text\n" % i for i in range(4))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture
def notices() -> list[str]:
    return []


def read_again(address, positions: Mapping[str, Position], notices: list[str], **kwargs) -> list[bytes]:
    """What is read of an address with positions of a checkpoint, without line ends."""
    return payloads(read_file(address, positions=positions, notice=notices.append, **kwargs))


def lines(*given: bytes) -> list[bytes]:
    return [line.rstrip(b"\n") for line in given]


def test_a_longer_copy_at_the_same_path_goes_on(folder, notices):
    path = folder / "app.log"
    path.write_bytes(ONE + TWO)
    positions = positions_after(read_file(path), 2)
    (folder / "new").write_bytes(ONE + TWO + THREE)
    os.replace(folder / "new", path)
    assert read_again(path, positions, notices) == lines(THREE)
    assert notices == []


@pytest.mark.parametrize("same_path", [True, False])
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_copied_folder_goes_on(folder, notices, same_path, suffix):
    """Restored from an archive at its path, or read on another disk: the positions are then those of another source."""
    compress = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}[suffix]
    for name, content in ("a", ONE + TWO), ("b", ONE + TWO + THREE), ("c", FOUR):
        (folder / f"{name}.log{suffix}").write_bytes(compress(content))
    positions = positions_after(read_file(folder), 4)
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    if same_path:
        shutil.rmtree(folder)
        copy.rename(folder)
        assert read_again(folder, positions, notices) == lines(THREE, FOUR)
        assert notices == []
        return
    source = FileSource(str(copy), context(elsewhere=list(positions.items()), notice=notices.append))
    assert payloads([records for some in iter(lambda: source.poll(9), None) for records in some]) == lines(THREE, FOUR)
    assert notices == [
        f"2 files begin with the bytes that were read as others, such as {copy}/a.log{suffix} as "
        f"{folder}/a.log{suffix}; reading goes on behind them"
    ]


def test_files_that_begin_alike_are_not_mistaken_for_each_other(folder, notices):
    """The header and the first rows are equal; the first file is read in part, to its end, or is gone by then."""
    head, contents = b"text,label\n" + ONE + TWO, {"a.csv": THREE, "b.csv": FOUR, "c.csv": b""}
    for name, content in contents.items():
        (folder / name).write_bytes(head + content)
    (folder / "d.csv").write_bytes(b"")
    whole = lines(ONE, TWO, THREE, ONE, TWO, FOUR, ONE, TWO)
    found = read_file(folder, framing=HeaderLines())
    assert payloads(found) == whole
    for done in range(len(whole) + 1):
        assert read_again(folder, positions_after(found, done), notices, framing=HeaderLines()) == whole[done:]
    assert notices == []


@pytest.mark.parametrize("done", [1, 2])
def test_a_new_file_that_begins_as_a_deleted_one_is_read_whole(folder, notices, done):
    (folder / "a.log").write_bytes(ONE + TWO)
    (folder / "z.log").write_bytes(FOUR)
    positions = positions_after(read_file(folder), done)
    (folder / "b.log").write_bytes(ONE + TWO + THREE)
    (folder / "a.log").unlink()
    assert read_again(folder, positions, notices) == lines(ONE, TWO, THREE, FOUR)
    left = f"{len(TWO)} bytes that it had after offset {len(ONE)}"
    assert notices == ([f"{folder}/a.log is gone; the {left} are not read"] if done == 1 else [])


def test_a_renamed_file_goes_on(folder, notices):
    (folder / "a.log").write_bytes(ONE + TWO)
    positions = positions_after(read_file(folder), 1)
    (folder / "a.log").rename(folder / "b.log")
    rest = read_file(folder, positions=positions, notice=notices.append)
    assert payloads(rest) == lines(TWO)
    assert read_again(folder, positions | positions_after(rest, 1), notices) == []
    assert notices == []


@pytest.mark.parametrize("how", ["rename", "copytruncate", "gzip"])
@pytest.mark.parametrize("done", [1, 2])
def test_rotated_files_of_a_folder_go_on(folder, notices, how, done):
    """Twice: app.log.1 becomes app.log.2, and app.log becomes app.log.1."""
    log, old = folder / "app.log", folder / "app.log.1"
    old.write_bytes(THREE)
    log.write_bytes(ONE + TWO)
    positions = positions_after(read_file(folder), done + 1 if done == 2 else 1)
    missing = [] if done == 2 else lines(THREE)
    old.rename(folder / "app.log.2")
    if how == "rename":
        log.rename(old)
    elif how == "copytruncate":
        shutil.copy(log, old)
    else:
        (folder / "app.log.1.gz").write_bytes(gzip.compress(log.read_bytes()))
        log.unlink()
    log.write_bytes(FOUR)
    assert read_again(folder, positions, notices) == [*lines(FOUR), *lines(ONE, TWO)[done:], *missing]
    assert [notice for notice in notices if "begins with the bytes" not in notice] == []


@pytest.mark.parametrize("same_beginning", [True, False])
def test_a_file_rotated_out_of_the_source_is_finished_first(folder, notices, same_beginning):
    """Only app.log is read; the new file begins with the bytes that were read, or with others."""
    log = folder / "app.log"
    log.write_bytes(ONE + TWO)
    positions = positions_after(read_file(log), 1)
    log.rename(folder / "app.log.1")
    log.write_bytes(ONE + THREE if same_beginning else FOUR)
    rest = read_file(log, positions=positions, notice=notices.append)
    assert payloads(rest) == lines(TWO, *([ONE, THREE] if same_beginning else [FOUR]))
    assert {records.part for records in rest} == {str(log)}
    assert notices == [f"{folder}/app.log.1 was {log} before; it is read to its end first"]


@pytest.mark.parametrize("whole_folder", [True, False])
def test_a_switched_link_leads_to_both_folders(tmp_path, notices, whole_folder):
    """What is left of the old folder's files is read first, also where the new folder has no such file."""
    for day, content in ("monday", ONE + TWO), ("tuesday", THREE):
        (tmp_path / day).mkdir()
        (tmp_path / day / "app.log").write_bytes(content)
    (tmp_path / "monday" / "only.log").write_bytes(ONE + FOUR)
    today = tmp_path / "today"
    today.symlink_to("monday")
    address = today if whole_folder else today / "app.log"
    found = read_file(address)
    positions = positions_after(found, 1) | (positions_after(found[1:], 1) if whole_folder else {})
    today.unlink()
    today.symlink_to("tuesday")
    rest = read_file(address, positions=positions, notice=notices.append)
    assert payloads(rest) == lines(TWO, *([FOUR] if whole_folder else []), THREE)
    assert {records.part for records in rest} <= {f"{today}/app.log", f"{today}/only.log"}
    assert len(notices) == (2 if whole_folder else 1)
    assert read_again(address, positions | positions_after(rest, 9), notices) == []
    assert all("it is read to its end first" in notice for notice in notices)


def test_files_of_the_old_folder_that_were_not_begun_are_named(tmp_path, notices):
    """A link is switched before the folder was read to its end."""
    for day in ("monday", "tuesday"):
        (tmp_path / day).mkdir()
        for name in ("a.log", "b.log", "_c.log"):
            (tmp_path / day / name).write_bytes(day.encode() + b" " + name.encode() + b"\n")
    today = tmp_path / "today"
    today.symlink_to("monday")
    positions = positions_after(read_file(today), 1)
    assert read_again(today, positions, notices) == [b"monday b.log"]
    assert notices == []
    today.unlink()
    today.symlink_to("tuesday")
    assert read_again(today, positions, notices) == [b"tuesday a.log", b"tuesday b.log"]
    monday = tmp_path / "monday"
    assert notices == [f"{today} led to {monday} before; not read there: b.log"]


def test_a_link_and_its_file_are_one_source(folder, notices):
    (folder / "a.log").write_bytes(ONE + TWO)
    (folder / "link").symlink_to("a.log")
    first = positions_after(read_file(folder / "a.log"), 1)
    source = FileSource(str(folder / "link"), context(elsewhere=list(first.items())))
    second = source.poll(9)
    assert payloads(second or []) == lines(TWO)
    source.close()
    both = list(positions_after(second or [], 1).items())
    source = FileSource(str(folder / "a.log"), context(positions=first, elsewhere=both, notice=notices.append))
    assert source.poll(9) is None
    assert notices == []


@pytest.mark.parametrize("lines_read", [1, 400])
def test_a_copy_by_another_name_goes_on_if_much_of_it_was_read(folder, notices, lines_read):
    """A few equal bytes may be those of another file that begins so; 4,096 are not."""
    (folder / "a.log").write_bytes(b"".join(ONE + b"%d\n" % i for i in range(300)))
    whole = payloads(read_file(folder))
    positions = positions_after(read_file(folder), lines_read)
    shutil.copy(folder / "a.log", folder / "moved.log")
    (folder / "a.log").unlink()
    read = lines_read if lines_read > 1 else 0
    assert read_again(folder, positions, notices) == whole[read:]
    assert len(notices) == 1


def test_many_files_with_one_name_and_one_beginning(tmp_path):
    """Copied to another folder, each goes on where it was; the last one has one more line."""
    names = [f"{number:03d}/app.log" for number in range(300)]
    for name in names:
        (tmp_path / "old" / name).parent.mkdir(parents=True)
        (tmp_path / "old" / name).write_bytes(ONE + name.encode() + b"\n" + TWO)
    positions = positions_after(read_file(tmp_path / "old" / "**" / "*.log"), 3 * len(names) - 1)
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    source = FileSource(str(tmp_path / "new" / "**" / "*.log"), context(elsewhere=list(positions.items())))
    assert payloads([records for some in iter(lambda: source.poll(9), None) for records in some]) == lines(TWO)
