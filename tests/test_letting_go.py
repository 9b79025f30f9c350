"""A source that must let go of a part has a checkpoint made first, which holds all that it gave."""

import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamlin.events import Position, Records, SinkContext, SourceContext, single_records
from streamlin.pipeline import Pipeline
from streamlin.settings import load_config

PACKAGE = """
[streamlin.sources]
letting-go = {module}:LettingGo
[streamlin.sinks]
slow = {module}:SlowSink
"""
ROUNDS = 3
_idle, _asked = threading.Event(), threading.Event()


class LettingGo:
    """Gives one record just when the run has found that there is none, and at once asks for a checkpoint."""

    known: tuple[int, ...] = ()
    told: tuple[tuple[int, int], ...] = ()

    def __init__(self, address: str, context: SourceContext) -> None:
        self._context, self._given = context, 0
        LettingGo.known = LettingGo.told = ()

    def poll(self, limit: int) -> list[Records] | None:
        if self._given:
            _asked.set()
            LettingGo.known += (self._context.checkpoint()["part"]["offset"],)
        if self._given == ROUNDS:
            return None
        _asked.clear()
        _idle.clear()
        assert _idle.wait(10)
        record = single_records([b'{"text": "word", "label": "label"}'], "part")
        self._given += 1
        return [replace(record, nexts=np.array([self._given]))]

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        if positions:
            LettingGo.told += ((positions["part"]["offset"], number),)

    def close(self) -> None:
        pass


class SlowSink:
    """Takes its time to flush: until the source has asked for a checkpoint."""

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


class Silent:
    """Shows nothing."""

    def update(self, run: Pipeline) -> None:
        pass

    def notice(self, line: str) -> None:
        pass


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with the source and the sink."""
    info = tmp_path / "letting_go-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: letting-go\nVersion: 1\n")
    (info / "entry_points.txt").write_text(PACKAGE.format(module=__name__))
    monkeypatch.syspath_prepend(tmp_path)
    assert sys.modules[__name__].LettingGo is LettingGo


def run(folder: Path, **pipeline: Any) -> None:
    """Run over the source, with a checkpoint."""
    flags = {"source.url": "letting-go://here", "sinks.predictions": "slow://here", "checkpoint.path": str(folder)}
    config = load_config(None, flags, [f"pipeline.{k}={v}" for k, v in pipeline.items()], ["naive_bayes"], {})
    pipeline_ = Pipeline(config, Silent())
    try:
        pipeline_.run()
    finally:
        pipeline_.close()


def test_all_that_was_given_is_in_the_checkpoint(package: None, tmp_path: Path) -> None:
    """Also what was given while the run had already found nothing more; and it is committed, under the right number."""
    run(tmp_path / "state")
    assert LettingGo.known == (1, 2, 3)
    assert LettingGo.told[:3] == ((1, 2), (2, 3), (3, 4))  # checkpoint 1 is that of the start
