"""Progress on a terminal and in a log file."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from tests.integration.processes import MODULE, finish, start

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def shown_on_a_terminal(*arguments: object) -> tuple[int, str]:
    """Run on a terminal of 100 columns; exit code and everything that was drawn."""
    controller, terminal = pty.openpty()
    environment = os.environ | {"COLUMNS": "100", "LINES": "40", "TERM": "xterm"}
    command = [*MODULE, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    drawn = bytearray()
    while True:
        try:
            piece = os.read(controller, 65536)
        except OSError:  # the terminal's other end is closed
            break
        if not piece:
            break
        drawn += piece
    os.close(controller)
    return process.wait(), drawn.decode()


def test_a_terminal_shows_a_live_table_and_progress(sms: Path) -> None:
    """They are redrawn repeatedly and removed at the end; the summary stays."""
    code, drawn = shown_on_a_terminal("run", f"{sms}?rate=600", "--slice-by", "label")
    live, _, rest = drawn.rpartition("\x1b[?25h")  # the cursor is shown again
    assert code == 0
    frames = [ESCAPES.sub("", frame) for frame in live.split("\x1b[2K")]
    tables = [frame for frame in frames if "passive_aggressive" in frame]
    assert len(tables) > 1
    assert all(word in tables[-1] for word in ("events/s", "95 % interval", "last 1,000", "fading", "majority", "%"))
    assert "━" in live
    assert re.search(r"[\d,]+ events · ", live)  # its numbers are not torn apart by colours
    assert "streamlin: dead letter at" in ESCAPES.sub("", live)
    summary = ESCAPES.sub("", rest)
    assert summary.strip().startswith("1,200 events")
    assert "no_change" in summary
    assert "ham" in summary


def test_without_a_terminal_progress_is_single_lines(sms: Path) -> None:
    """A long run prints its progress every few seconds; see `test_warm` for the line of one that compiles kernels."""
    long = start("run", f"{sms}?rate=75", "--limit", 900)
    assert long.stderr is not None
    line = next(line for line in map(bytes.decode, long.stderr) if "best" in line)
    told = re.search(r"^streamlin: (\d+) % · (\d+) events · .* events/s · best \w+ [\d.]+ %, last [\d.]+ %$", line)
    assert told is not None
    assert int(told[1]) == pytest.approx(100 * int(told[2]) / 1200, abs=5)  # learned, though all is read
    long.terminate()
    assert finish(long).code == 0
