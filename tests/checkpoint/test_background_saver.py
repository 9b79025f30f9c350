"""Checkpoints written in the background."""

import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streamlin.checkpoint.background_saver import BackgroundSaver
from streamlin.checkpoint.file import Checkpoint
from streamlin.errors import ConnectorError

SECONDS = 20.0


class Held(Checkpoint):
    """A checkpoint that is saved only once the test releases it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.released = threading.Event()
        self.threads: list[str] = []

    def save(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        assert self.released.wait(SECONDS)
        self.threads.append(threading.current_thread().name)
        super().save(dict(arrays), state)


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
