"""A source that has to give up a part requests a checkpoint first, which holds everything it handed over."""

import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from streamlin.config.loading import load_config
from streamlin.events import Position, Records, SinkContext, SourceContext, single_records
from streamlin.running.loop import Run
from tests.silent import Silent

ENTRY_POINTS = f"""
[streamlin.sources]
letting-go = {__name__}:LettingGo
[streamlin.sinks]
slow = {__name__}:SlowSink
"""
ROUNDS = 3
_idle, _asked = threading.Event(), threading.Event()


class LettingGo:
    """Gives a record just when the run has found no record, and requests a checkpoint immediately afterwards.

    stop : set before the last checkpoint is requested.
    """

    stop: threading.Event | None = None
    known: tuple[int, ...] = ()
    committed: tuple[tuple[int, int], ...] = ()

    def __init__(self, address: str, context: SourceContext) -> None:
        self._context, self._given = context, 0
        LettingGo.known = LettingGo.committed = ()

    def poll(self, limit: int) -> list[Records] | None:
        if self._given:
            if self._given == ROUNDS and self.stop is not None:
                self.stop.set()
            _asked.set()
            LettingGo.known += (self._context.checkpoint()["part"]["offset"],)
        if self._given == ROUNDS:
            return None
        _asked.clear()
        _idle.clear()
        _idle.wait(0.5)
        self._given += 1
        record = single_records([b'{"text": "word", "label": "label"}'], "part")
        return [replace(record, nexts=np.array([self._given]))]

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        if positions:
            LettingGo.committed += ((positions["part"]["offset"], number),)

    def close(self) -> None:
        pass


class SlowSink:
    """Flushes slowly: until the source has requested a checkpoint."""

    def __init__(self, address: str, context: SinkContext) -> None:
        pass

    def write(self, lines: bytes | memoryview) -> None:
        pass

    def flush(self) -> None:
        _idle.set()
        _asked.wait(0.2)

    def sync(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution with the source and the sink."""
    info = tmp_path / "letting_go-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: letting-go\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("stopped", [False, True])
def test_the_checkpoint_holds_all_that_the_source_gave(
    stopped: bool, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a record that came when the run had just found none; and it is committed, with the checkpoint's number.

    If the run is being stopped, the last record may not be learned any more: then it is in no checkpoint either.
    """
    flags = {"source.url": "letting-go://x", "sinks.predictions": "slow://x", "checkpoint.path": str(tmp_path / "s")}
    config = load_config(None, flags, [f"pipeline.threads={threads}"], ["naive_bayes"], {})
    stop = threading.Event()
    monkeypatch.setattr(LettingGo, "stop", stop if stopped else None)
    with closing(Run(config, Silent(), stop=stop)) as pipeline:
        events = pipeline.run()["events"]
    assert LettingGo.known == (1, 2, events)
    assert LettingGo.committed[:3] == ((1, 2), (2, 3), (events, 4))  # checkpoint 1 is that of the start
    assert events == ROUNDS or (stopped and threads == 2)
