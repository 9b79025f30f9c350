"""The write-ahead log: its contents after anything that may happen."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.config import RunConfig
from streamlin.errors import ConnectorError
from streamlin.events import Position
from streamlin.service.journal import Journal
from streamlin.service.source import PART, JournalSource
from streamlin.streams.json_lines import json_lines

LINES = [b'{"text": "%d"}\n' % number for number in range(100)]
FORMAT = json_lines(RunConfig())


def read_all(journal: Journal, position: Position | None, limit: int = 7) -> tuple[list[bytes], list[Position]]:
    """All records, and the position after each poll."""
    source = JournalSource(journal, position, FORMAT)
    lines, positions = list[bytes](), list[Position]()
    journal.end()
    while (polled := source.poll(limit)) is not None:
        (records,) = polled
        assert 0 < len(records) <= limit
        lines += [records[i] + b"\n" for i in range(len(records))]
        positions.append(records.position(len(records)))
    return lines, positions


@pytest.mark.parametrize("segment_bytes", [1, 40, 1 << 20])
def test_reading_continues_from_any_position(tmp_path: Path, segment_bytes: int) -> None:
    """With segments and portions of any size."""
    journal = Journal(tmp_path, None, segment_bytes)
    for begin in range(0, 100, 3):
        journal.append(b"".join(LINES[begin : begin + 3]), len(LINES[begin : begin + 3]))
    lines, positions = read_all(journal, None)
    journal.close()
    assert lines == LINES
    assert positions[-1] == {"offset": 100, "byte": sum(map(len, LINES))}
    for position in positions:
        opened = Journal(tmp_path, position, segment_bytes)
        assert (opened.begin, opened.lines) == (position["offset"], 100)
        assert read_all(opened, position)[0] == LINES[position["offset"] :]
        opened.close()


def test_segments_that_no_checkpoint_needs_are_deleted(tmp_path: Path) -> None:
    """Those that end before the previous checkpoint."""
    journal = Journal(tmp_path, None, 1)
    source = JournalSource(journal, None, FORMAT)
    for number in range(0, 10, 2):
        for line in LINES[number : number + 2]:
            journal.append(line, 1)
            (records,) = source.poll(1) or ()
        source.commit({PART: records.position(1)}, number)
        assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == LINES[number : number + 2]
    source.commit({"another": {"offset": 1}}, 10)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [LINES[9]]
    journal.close()


def test_a_checkpoint_without_its_journal_continues(tmp_path: Path) -> None:
    """A checkpoint that was copied alone: everything before it is learned, and offsets continue."""
    position = {"offset": 3, "byte": 45}
    journal = Journal(tmp_path, position)
    journal.append(LINES[0], 1)
    assert read_all(journal, position) == (LINES[:1], [{"offset": 4, "byte": 45 + len(LINES[0])}])
    journal.close()
    assert [path.name for path in tmp_path.iterdir()] == ["requests-0000000000000045.jsonl"]


@given(st.integers(0, 60), st.integers(1, 3))
def test_a_truncated_journal_is_repaired(tmp_path_factory: pytest.TempPathFactory, size: int, segments: int) -> None:
    """An unfinished line is dropped; all lines before it are kept, and the next one is whole."""
    folder = tmp_path_factory.mktemp("journal")
    journal = Journal(folder, None, 60 if segments > 1 else 1 << 20)
    for line in LINES[:4] * segments:
        journal.append(line, 1)
    journal.close()
    last = sorted(folder.iterdir())[-1]
    os.truncate(last, min(size, last.stat().st_size))
    journal = Journal(folder, None)
    journal.append(b'{"text": "after"}\n', 1)
    lines, _ = read_all(journal, None)
    journal.close()
    assert lines[-1] == b'{"text": "after"}\n'
    assert lines[:-1] == (LINES[:4] * segments)[: len(lines) - 1]
    assert len(lines) - 1 >= 4 * (segments - 1)


def test_an_unfinished_line_of_megabytes_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "requests-0000000000000000.jsonl"
    path.write_bytes(LINES[0] + b"x" * 1_000_000)
    Journal(tmp_path, None).close()
    assert path.read_bytes() == LINES[0]
    path.write_bytes(b"x" * 1_000_000)
    Journal(tmp_path, None).close()
    assert path.read_bytes() == b""


def test_a_line_longer_than_a_block_is_read(tmp_path: Path) -> None:
    line = b'{"text": "%s"}\n' % (b"x" * 1_000_000)
    journal = Journal(tmp_path, None)
    journal.append(LINES[0] + line + LINES[1], 3)
    assert read_all(journal, None)[0] == [LINES[0], line, LINES[1]]
    journal.close()


def test_segments_with_gaps_are_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path, None, 1)
    for line in LINES[:3]:
        journal.append(line, 1)
    journal.close()
    first, second, third = sorted(tmp_path.iterdir())
    with pytest.raises(ConnectorError, match="hold 0 to 42: they do not belong together"):
        Journal(tmp_path, {"offset": 4, "byte": 43})
    whole = second.read_bytes()
    second.write_bytes(whole[:-1])
    with pytest.raises(ConnectorError, match=f"{second.name} was changed: it should end at offset 28 of the requests"):
        Journal(tmp_path, None)
    second.write_bytes(whole)
    first.unlink()
    with pytest.raises(ConnectorError, match="continues at offset 0 of the requests, but its files hold 14 to 42"):
        Journal(tmp_path, None)
    Journal(tmp_path, {"offset": 1, "byte": 14}).close()
    second.unlink()
    third.unlink()
    tmp_path.rmdir()
    with pytest.raises(ConnectorError, match="can't be stored: No such file or directory"):
        Journal(tmp_path, None)


def test_truncation_of_an_open_journal_is_an_error(tmp_path: Path) -> None:
    journal = Journal(tmp_path, None)
    journal.append(b"".join(LINES), len(LINES))
    source = JournalSource(journal, None, FORMAT)
    assert source.poll(1)
    os.truncate(next(tmp_path.iterdir()), 20)
    with pytest.raises(ConnectorError, match="was truncated while the service was running"):
        source.poll(10)
    journal.close()


def test_appended_lines_wake_a_waiting_reader(tmp_path: Path) -> None:
    """A poll without new lines returns empty after a while."""
    journal = Journal(tmp_path, None)
    source = JournalSource(journal, None, FORMAT)
    assert source.poll(10) == []
    found = list[int]()

    def read() -> None:
        while (polled := source.poll(10)) is not None:
            found.extend(len(records) for records in polled)

    reader = threading.Thread(target=read)
    reader.start()
    for begin in range(0, 100, 5):
        journal.append(b"".join(LINES[begin : begin + 5]), 5)
    assert source.extent() == {PART: (0, 100)}
    journal.end()
    reader.join()
    assert sum(found) == source.taken == 100
    journal.close()


def test_records_have_names_and_positions(tmp_path: Path) -> None:
    journal = Journal(tmp_path, None)
    journal.append(b"".join(LINES[:3]), 3)
    (records,) = JournalSource(journal, None, FORMAT).poll(10) or ()
    assert [records.name(i) for i in range(3)] == ["requests:0", "requests:14", "requests:28"]
    assert [records.position(i)["offset"] for i in (1, 2, 3)] == [1, 2, 3]
    assert np.array_equal(records.nexts, [14, 28, 42])
    journal.close()
