"""Processes that compile the same kernel take turns."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from streamlin.kernel import cache_files
from streamlin.kernel.cache_files import Turn
from tests.locations import ROOT

HOLD = "import sys; from streamlin.kernel.cache_files import Turn; print(Turn(sys.argv[1]).take(), flush=True); input()"


def holder(path: Path) -> "subprocess.Popen[str]":
    """A process that has the turn until a line comes."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


@pytest.mark.parametrize("killed", [False, True])
def test_a_turn_ends_when_the_other_process_gives_it_back_or_dies(tmp_path: Path, killed: bool) -> None:
    turn, taken = Turn(str(tmp_path / "kernels" / "a.lock")), threading.Event()
    with holder(tmp_path / "kernels" / "a.lock") as other:
        waiting = threading.Thread(target=lambda: turn.take() and taken.set())
        waiting.start()
        assert not taken.wait(0.2)
        if killed:
            other.kill()
        else:
            other.communicate("\n")
        waiting.join(30)
    assert taken.is_set()
    assert turn.take(), "a process that has its turn keeps it"
    turn.give_back()


def test_patience_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_files, "_PATIENCE", 0.05)
    with holder(tmp_path / "a.lock") as other:
        assert not Turn(str(tmp_path / "a.lock")).take()
        other.communicate("\n")


def test_where_nothing_can_be_locked_each_compiles(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not Turn(f"{tmp_path}/file/a.lock").take()
    assert os.listdir(tmp_path) == ["file"]
