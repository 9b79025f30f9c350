"""In which order a run's state is taken and written."""

import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from streamlin.checkpoint.file import Checkpoint
from streamlin.checkpoint.run_state import RunState, save_copy
from streamlin.config import RunConfig
from streamlin.errors import ConfigError

SECONDS = 20.0


def test_contents_are_taken_once_the_checkpoint_before_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To take them deletes what waits on disk as far as the last checkpoint allows; a kill may come at once."""
    done: list[str] = []
    begun, released = threading.Event(), threading.Event()
    save = Checkpoint.save

    def held(checkpoint: Checkpoint, arrays: Any, state: Any, contents: Any = None) -> None:
        begun.set()
        assert released.wait(SECONDS)
        save(checkpoint, arrays, state)
        done.append(f"{state['number']} written")

    monkeypatch.setattr(Checkpoint, "save", held)
    with closing(RunState(RunConfig(checkpoint={"path": str(tmp_path)}))) as state:
        contents = state.contents

        def taken() -> Any:
            done.append(f"{state.number} taken")
            return contents()

        monkeypatch.setattr(state, "contents", taken)
        state.save()
        assert begun.wait(SECONDS)
        second = threading.Thread(target=lambda: state.save(wait=True))
        second.start()
        time.sleep(0.1)  # long enough to take the contents too early
        assert done == ["1 taken"]
        released.set()
        second.join()
    assert done == ["1 taken", "1 written", "2 taken", "2 written"]


def test_a_copy_without_the_texts_that_wait_on_disk_is_refused(tmp_path: Path) -> None:
    config = RunConfig(checkpoint={"path": str(tmp_path / "own")}, delayed_labels={"enabled": True, "store": "disk"})
    with (
        closing(RunState(config)) as state,
        pytest.raises(ConfigError, match=r"delayed_labels\.store = 'disk' keeps waiting texts in a database"),
    ):
        save_copy(state, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
