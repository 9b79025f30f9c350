"""Plain files: the files of an address, their records, and resuming."""

import os
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import connectors.files.file_reader
from connectors.files import FileSource
from streamlin.errors import ConfigError, ConnectorError
from tests.connectors.reading import (
    HeaderLines,
    context,
    errors,
    expected_lines,
    payloads,
    polled,
    positions_after,
    read_file,
)


@pytest.fixture
def folder(tmp_path):
    """Three files, and two entries that are not read: a hidden file and a folder."""
    for name in ("b.log", "a.log", "c.txt", ".hidden.log"):
        (tmp_path / name).write_bytes(f"from {name}\n".encode())
    (tmp_path / "d.log").mkdir()
    return tmp_path


def test_a_file(folder):
    found = read_file(folder / "a.log")
    assert payloads(found) == [b"from a.log"]
    assert found[0].name(0) == f"{folder}/a.log:0"


def test_a_pattern_matches_files_sorted_by_name(folder):
    assert payloads(read_file(folder / "*.log")) == [b"from a.log", b"from b.log"]


def test_a_pattern_matches_in_folders_of_any_depth(folder):
    (folder / "d.log" / "deep.log").write_bytes(b"deep\n")
    assert payloads(read_file(folder / "**" / "*.log")) == [b"from a.log", b"from b.log", b"deep"]


def test_a_folder_gives_its_files(folder):
    assert payloads(read_file(folder)) == [b"from a.log", b"from b.log", b"from c.txt"]


def test_an_existing_path_is_used_literally(folder):
    (folder / "[a]?.log").write_bytes(b"literal\n")
    assert payloads(read_file(folder / "[a]?.log")) == [b"literal"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.log", "none.log can't be read: No such file"),
        ("*.none", r"no file matches .*\*\.none"),
        ("d.log", "no file"),
    ],
)
def test_nothing_to_read(folder, name, said):
    with pytest.raises(ConnectorError, match=said):
        FileSource(str(folder / name), context())


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConnectorError, match="pipe is a pipe or device"):
        read_file(tmp_path / "pipe")


def test_a_file_without_permission():
    """As an unprivileged user, because tests may run as root."""
    script = (
        "import os, sys, connectors.files.source, tests.connectors.reading as reading\n"
        "from streamlin.errors import ConnectorError\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: reading.read_file(sys.argv[1])\n"
        "except ConnectorError as error: print(error)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        secret = Path(folder, "secret.log")
        secret.write_bytes(b"x\n")
        secret.chmod(0)
        for address in (secret, f"{folder}/*.log"):
            ran = subprocess.run([sys.executable, "-c", script, address], capture_output=True, text=True, check=True)
            assert ran.stdout == f"{secret} can't be read: Permission denied\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"strat": "end"}, "no option 'strat'; did you mean 'start'"),
        ({"start": "middle"}, "start=middle needs to be beginning or end"),
        ({"start": "end"}, "start=end needs --follow"),
    ],
)
def test_wrong_options_are_refused(folder, options, said):
    with pytest.raises(ConfigError, match=said):
        FileSource(str(folder / "a.log"), context(options=options))


def test_an_empty_file_has_no_records(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert read_file(tmp_path / "empty") == []


lines = st.lists(st.sampled_from([b"", b"a", b"bc\r", b"\xc3\xa9", bytes(5), b"long" * 9])).map(b"\n".join)


@settings(max_examples=60)
@given(lines, st.integers(1, 50), st.integers(1, 9), st.integers(1, 9), st.data())
def test_resuming_anywhere_reads_exactly_the_rest(content, block, limit, other_limit, draw):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(connectors.files.file_reader, "BLOCK", block)
        for name in ("1", "2"):
            Path(folder, name).write_bytes(content)
        found = read_file(folder, limit)
        whole = payloads(found)
        assert whole == 2 * expected_lines(content)
        done = draw.draw(st.integers(0, len(whole)))
        notices: list[str] = []
        rest = read_file(folder, other_limit, positions=positions_after(found, done), notice=notices.append)
        assert payloads(rest) == whole[done:]
        assert [notice for notice in notices if "NUL bytes" not in notice] == []


def test_lines_added_after_a_stop_are_read(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(b"one\ntwo\n")
    positions = positions_after(read_file(path), 2)
    with path.open("ab") as file:
        file.write(b"three\n")
    assert payloads(read_file(path, positions=positions)) == [b"three"]


@pytest.mark.parametrize("content", [b"one\n", b"uno\nduo\ntre\n", b""])
def test_another_file_is_read_from_its_beginning(tmp_path, content):
    path, notices = tmp_path / "a.log", []
    path.write_bytes(b"one\ntwo\n")
    found = read_file(path)
    path.write_bytes(content)
    for done, left in (2, ""), (1, "the 4 bytes that it had after offset 4 are not read; "):
        if content == b"one\n" and done == 1:
            break  # these are the bytes before the position
        rest = read_file(path, positions=positions_after(found, done), notice=notices.append)
        assert payloads(rest) == content.split()
        assert notices == [f"{path} is not the file that was read before; {left}reading starts at its beginning"]
        notices.clear()


def test_positions_do_not_depend_on_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "a.log").write_bytes(b"one\ntwo\n")
    monkeypatch.chdir(tmp_path)
    found = read_file("a.log")
    assert found[0].name(0) == "a.log:0"
    monkeypatch.chdir("/")
    assert payloads(read_file(tmp_path / "a.log", positions=positions_after(found, 1))) == [b"two"]


def test_the_header_is_known_after_a_stop(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\none,1\ntwo,2\n")
    positions = positions_after(read_file(path, framing=HeaderLines()), 1)
    rest = read_file(path, framing=HeaderLines(), positions=positions)
    assert payloads(rest) == [b"two,2"]
    assert rest[0].header == b"text,label"


def test_every_file_has_its_own_header(tmp_path):
    (tmp_path / "1.csv").write_bytes(b"a\n1\n")
    (tmp_path / "2.csv").write_bytes(b"b\n2\n")
    found = read_file(tmp_path, framing=HeaderLines())
    assert [(records.header, records[0]) for records in found] == [(b"a", b"1"), (b"b", b"2")]


def test_a_deleted_file_is_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(connectors.files.file_reader, "BLOCK", 10)
    path = tmp_path / "a.log"
    path.write_bytes(b"123456789\n" * 100)
    source = FileSource(str(path), context())
    begun = source.poll(1)
    path.unlink()
    assert len(payloads((begun or []) + polled(source))) == 100
    source.close()


def test_a_file_deleted_before_it_is_read_is_an_error(folder):
    source = FileSource(str(folder / "*.log"), context())
    assert payloads(source.poll(10) or []) == [b"from a.log"]
    (folder / "b.log").unlink()
    with pytest.raises(ConnectorError, match=r"b\.log can't be read: No such file"):
        polled(source)
    source.close()


def test_a_file_overwritten_while_read_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(connectors.files.file_reader, "BLOCK", 6)
    path, notices = tmp_path / "a.log", []
    path.write_bytes(b"one\ntwo\nthree\n")
    source = FileSource(str(path), context(notice=notices.append))
    assert payloads(source.poll(1) or []) == [b"one"]
    path.write_bytes(b"uno\nduo\ntre\n")
    assert payloads(polled(source)) == [b"tw", b"uno", b"duo", b"tre"]
    assert notices == [
        f"{path} was truncated or overwritten; it is read from its beginning again; "
        "8 bytes that it had before are not read"
    ]
    source.close()


def test_progress_counts_bytes_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(connectors.files.file_reader, "BLOCK", 10)
    for name in ("1", "2"):
        (tmp_path / name).write_bytes(b"123456789\n" * 3)
    source, seen = FileSource(str(tmp_path), context()), []
    while source.poll(100) is not None:
        seen.append(source.progress())
    assert seen == [(10 * lines, 60, 9 * lines, 1.0) for lines in range(1, 7)]
    assert source.progress() == (60, 60, 54, 1.0)
    source.close()


def test_a_line_of_50_megabytes_is_not_kept_in_memory(tmp_path):
    path = tmp_path / "long.log"
    with path.open("wb") as file:
        file.write(b"before\n")
        for _ in range(50):
            file.write(b"x" * 1_000_000)
        file.write(b"\nafter\n")
    tracemalloc.start()
    found = read_file(path, longest=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [len(payload) for payload in payloads(found)] == [6, 65536, 5]
    assert errors(found) == ["record of 50000000 bytes is over max_record_bytes = 1000000"]
    assert peak < 10_000_000


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "big.log"
    path.write_bytes(b"a line of some forty bytes, as logs have\n" * 1_000_000)
    source = FileSource(str(path), context())
    tracemalloc.start()
    count = 0
    while (found := source.poll(1000)) is not None:
        count += sum(map(len, found))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    source.close()
    assert count == 1_000_000
    assert peak < 8_000_000
