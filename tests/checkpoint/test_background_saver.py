"""Checkpoints written in the background."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamlin.checkpoint.background_saver import BackgroundSaver
from streamlin.checkpoint.file import Checkpoint
from streamlin.checkpoint.layout import Arrays
from streamlin.errors import ConnectorError

SECONDS = 20.0


class Held(Checkpoint):
    """A checkpoint that is saved only once the test releases it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.released = threading.Event()
        self.threads: list[str] = []

    def save(self, arrays: Arrays, state: Mapping[str, Any], contents: Iterable[memoryview] | None = None) -> None:
        assert self.released.wait(SECONDS)
        self.threads.append(threading.current_thread().name)
        super().save(arrays, state, contents)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Iterator[Held]:
    with closing(Held(tmp_path / "state")) as held:
        yield held


@pytest.fixture
def saver(checkpoint: Held) -> Iterator[BackgroundSaver]:
    saver = BackgroundSaver(checkpoint)
    yield saver
    checkpoint.released.set()
    saver.close()


def save(saver: BackgroundSaver, number: int, saved: list[int], wait: bool = False) -> None:
    saver.save({"a": np.full(3, number)}, {"number": number}, lambda: saved.append(number), wait)


def test_saving_does_not_block_the_run(checkpoint: Held, saver: BackgroundSaver) -> None:
    """And the callback comes only once everything is saved."""
    saved: list[int] = []
    save(saver, 1, saved)
    saver.check()
    assert not saved
    assert not checkpoint.exists()
    checkpoint.released.set()
    saver.wait()
    assert saved == [1]
    assert checkpoint.load()[1] == {"number": 1}
    assert checkpoint.threads != [threading.current_thread().name]


def test_later_changes_are_not_saved(checkpoint: Held, saver: BackgroundSaver) -> None:
    """Learning goes on in the arrays, and counting in values nested in the state."""
    table = np.arange(12.0).reshape(3, 4)
    state = {"positions": {"t/0": {"offset": 7}}, "labels": ["a"]}
    saver.save({"corner": table[:2, :3], "all": table}, state, lambda: None, wait=False)
    table[:] = -1.0
    state["positions"]["t/0"]["offset"] = 8
    state["labels"].append("b")
    checkpoint.released.set()
    saver.wait()
    arrays, found = checkpoint.load()
    assert arrays["corner"].tolist() == [[0, 1, 2], [4, 5, 6]]
    assert arrays["all"].tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert found == {"positions": {"t/0": {"offset": 7}}, "labels": ["a"]}


LARGE = 3 * 64
"""MiB, three times what is held in copies."""


def test_large_tables_are_copied_in_parts(checkpoint: Held, saver: BackgroundSaver) -> None:
    """Rows with spare columns, and an array that is no table."""
    table, counts = np.zeros((1 << 17, LARGE // 2 + 3)), np.arange(1 << 22)
    table[:, : LARGE // 2] = np.arange(1 << 17)[:, None]
    checkpoint.released.set()
    saver.save({"table": table[:, : LARGE // 2], "counts": counts}, {"n": 1}, lambda: None, wait=False)
    table[:], counts[:] = -1, -1
    saver.wait()
    arrays = checkpoint.load()[0]
    assert (arrays["table"] == np.arange(1 << 17)[:, None]).all()
    assert (arrays["counts"] == np.arange(1 << 22)).all()


def test_a_failure_does_not_block_the_copies(checkpoint: Held, saver: BackgroundSaver) -> None:
    shutil.rmtree(checkpoint.folder)
    checkpoint.released.set()
    saver.save({"table": np.zeros((1 << 17, LARGE))}, {}, lambda: None, wait=False)
    with pytest.raises(ConnectorError, match="checkpoint"):
        saver.wait()


def test_copies_that_fail_are_no_checkpoint(checkpoint: Held, saver: BackgroundSaver) -> None:
    """The one before it stays."""
    checkpoint.released.set()
    saver.save({"a": np.arange(3)}, {"n": 1}, lambda: None, wait=True)
    broken = np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 40,), (0,))  # has more bytes than there is memory
    with pytest.raises(MemoryError):
        saver.save({"a": np.arange(3), "b": broken[None, :]}, {"n": 2}, lambda: None, wait=False)
    with pytest.raises(MemoryError):
        saver.wait()
    assert checkpoint.load()[1] == {"n": 1}


_PEAK = """
import resource, sys
import numpy as np
from streamlin.checkpoint.background_saver import BackgroundSaver
from streamlin.checkpoint.file import Checkpoint
table = np.ones((1 << 18, {mebibytes} // 2))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
saver, before = BackgroundSaver(Checkpoint(sys.argv[1])), peak()
for _ in range(2):
    saver.save({{"table": table}}, {{}}, lambda: None, wait=False)
saver.wait()
print(peak() - before)
"""


def test_copies_do_not_double_the_memory(tmp_path: Path) -> None:
    """The peak of a process, in MiB."""
    command = [sys.executable, "-c", _PEAK.format(mebibytes=4 * LARGE), tmp_path / "state"]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown < LARGE


def test_checkpoints_are_saved_in_order(checkpoint: Held, saver: BackgroundSaver) -> None:
    checkpoint.released.set()
    saved: list[int] = []
    for number in range(1, 6):
        save(saver, number, saved)
    save(saver, 6, saved, wait=True)
    assert saved == [1, 2, 3, 4, 5, 6]
    assert checkpoint.load()[1] == {"number": 6}
    assert checkpoint.load(previous=True)[1] == {"number": 5}


def test_wait_returns_once_it_is_saved(checkpoint: Held, saver: BackgroundSaver) -> None:
    checkpoint.released.set()
    saved: list[int] = []
    save(saver, 1, saved, wait=True)
    assert saved == [1]
    assert checkpoint.load()[1] == {"number": 1}


@pytest.mark.parametrize("call", ["wait", "check", "save", "save and wait"])
def test_a_failure_is_raised_by_the_next_call(checkpoint: Held, saver: BackgroundSaver, call: str) -> None:
    """It is raised once, and the callback is not called."""
    saved: list[int] = []
    shutil.rmtree(checkpoint.folder)
    save(saver, 1, saved)
    checkpoint.released.set()
    calls = {
        "wait": saver.wait,
        "check": lambda: until_raised(saver),
        "save": lambda: save(saver, 2, saved),
        "save and wait": lambda: save(saver, 2, saved, wait=True),
    }
    with pytest.raises(ConnectorError, match="checkpoint"):
        calls[call]()
    assert saved == []
    checkpoint.folder.mkdir()
    saver.check()
    save(saver, 3, saved, wait=True)
    assert saved == [3]


def until_raised(saver: BackgroundSaver) -> None:
    """`check` does not wait, so it is called repeatedly."""
    for _ in range(int(SECONDS / 0.01)):
        saver.check()
        threading.Event().wait(0.01)


def test_an_error_of_the_callback_is_raised(checkpoint: Held, saver: BackgroundSaver) -> None:
    def saved() -> None:
        raise ConnectorError("nobody listens")

    checkpoint.released.set()
    saver.save({}, {}, saved, wait=False)
    with pytest.raises(ConnectorError, match="nobody listens"):
        saver.wait()


def test_closing_waits_for_the_running_save(checkpoint: Held, saver: BackgroundSaver) -> None:
    saved: list[int] = []
    save(saver, 1, saved)
    threading.Timer(0.05, checkpoint.released.set).start()
    saver.close()
    assert saved == [1]
