"""In which order a run's state is taken and written."""

import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from streamlin.checkpoint.file import Checkpoint
from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig

SECONDS = 20.0


def test_contents_are_taken_once_the_checkpoint_before_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To take them deletes what waits on disk as far as the last checkpoint allows; a kill may come at once."""
    done: list[str] = []
    begun, released = threading.Event(), threading.Event()
    save = Checkpoint.save

    def held(checkpoint: Checkpoint, arrays: Any, state: Any) -> None:
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
