"""What a person sees on a terminal, and a log file elsewhere."""

import os
import pty
import re
import subprocess
from pathlib import Path

from tests.integration.processes import MODULE, finish, start, streamlin

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def shown_on_a_terminal(*arguments: object) -> tuple[int, str]:
    """Run with a terminal of 100 columns as standard output and error: exit code and everything that was drawn."""
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


def test_a_live_table_and_a_bar(sms: Path) -> None:
    """Drawn anew again and again, taken away at the end, when the summary is all that stays."""
    code, drawn = shown_on_a_terminal("run", f"{sms}?rate=2500", "--slice-by", "label")
    live, _, rest = drawn.rpartition("\x1b[?25h")  # the cursor is shown again
    assert code == 0
    frames = [ESCAPES.sub("", frame) for frame in live.split("\x1b[2K")]
    tables = [frame for frame in frames if "passive_aggressive" in frame]
    assert len(tables) > 1
    assert all(word in tables[-1] for word in ("events/s", "95 % interval", "last 1,000", "fading", "majority", "%"))
    assert "━" in live
    assert "streamlin: dead letter at" in ESCAPES.sub("", live)
    summary = ESCAPES.sub("", rest)
    assert summary.splitlines()[0].strip("\r").startswith("1,200 events")
    assert "no_change" in summary
    assert "ham" in summary


def test_no_escapes_elsewhere(sms: Path) -> None:
    done = streamlin("run", sms, env={"TERM": "xterm-256color", "COLORTERM": "truecolor"})
    assert "\x1b" not in done.out + done.err


def test_plain_lines_now_and_then(sms: Path) -> None:
    """A line every few seconds: how much is read, how many events, and the best learner so far."""
    process = start("run", f"{sms}?rate=150", "--limit", 900)
    assert process.stderr is not None
    lines: list[str] = []
    for line in process.stderr:
        lines.append(line.decode())
        if "best" in lines[-1]:
            break
    process.terminate()
    assert finish(process).code == 0
    assert re.search(r"^streamlin: 100 % · \d+ events · .* events/s · best \w+ [\d.]+ %, last [\d.]+ %$", lines[-1])
