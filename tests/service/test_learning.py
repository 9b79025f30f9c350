"""A run over a journal of small segments, interrupted repeatedly."""

import random
from contextlib import ExitStack
from pathlib import Path

from streamlin.checkpoint.file import Checkpoint
from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.config.loading import load_config
from streamlin.model import Learned
from streamlin.running.loop import Run
from streamlin.running.watching import Watcher
from streamlin.service.journal import Journal
from streamlin.service.source import PART, JournalSource
from streamlin.streams.json_lines import json_lines
from tests.integration.streams import assert_same_state, write_lines
from tests.silent import Silent

EVENTS = [{"text": f"{'abcde'[i % 5]} {i % 7}", "label": "xy"[i % 5 > 2], "id": str(i)} for i in range(2000)]


class _BrokenError(Exception):
    pass


class _Breaking(Watcher):
    """Ends a run after so many batches, as a kill would."""

    def __init__(self, batches: int) -> None:
        self._left = batches

    def learned(self, learned: Learned) -> None:
        self._left -= 1
        if not self._left:
            raise _BrokenError


def _config(state: Path) -> RunConfig:
    flags = {
        "checkpoint.path": str(state),
        "checkpoint.every_events": 30,
        "features.bits": 12,
        "pipeline.batch_size": 7,
        "pipeline.threads": 1,
        "evaluation.drift": "none",  # alarms name the place in the source
    }
    return load_config(flags=flags, environment={})


def _live(state: Path, lines: list[bytes], batches: int | None) -> None:
    """Accept lines, and learn so many batches, or all."""
    config = _config(state)
    with ExitStack() as opened:
        kept = RunState(config)
        opened.callback(kept.close)
        position = kept.positions.get(PART, {}).get(PART)
        journal = Journal(state, position, segment_bytes=500)
        opened.callback(journal.close)
        source = JournalSource(journal, position, json_lines(config))
        for begin in range(0, len(lines), 3):
            journal.append(b"".join(lines[begin : begin + 3]), len(lines[begin : begin + 3]))
        journal.end()
        watchers = [] if batches is None else [_Breaking(batches)]
        run = Run(config, Silent(), state=kept, source=source, watchers=watchers)
        opened.callback(run.close)
        try:
            run.run()
        except _BrokenError:
            kept.wait()


def test_interruptions_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    """Segments that no checkpoint needs are deleted."""
    stream = write_lines(tmp_path / "stream.jsonl", EVENTS)
    lines = stream.read_bytes().splitlines(keepends=True)
    chance, state = random.Random(3), tmp_path / "state"
    while lines:
        count = chance.randint(0, 120)
        _live(state, lines[:count], chance.randint(1, 20))
        lines = lines[count:]
    _live(state, [], None)
    assert len(list(state.glob("requests-*.jsonl"))) < 10
    config = _config(tmp_path / "run")
    run = Run(config.model_copy(update={"source": config.source.model_copy(update={"url": str(stream)})}), Silent())
    run.run()
    run.close()
    assert_same_state(state, tmp_path / "run", places=False)


def test_the_previous_checkpoint_still_has_its_segments(tmp_path: Path) -> None:
    """A run from the previous checkpoint learns all events after it again."""
    lines = write_lines(tmp_path / "stream.jsonl", EVENTS).read_bytes().splitlines(keepends=True)
    state = tmp_path / "state"
    _live(state, lines, None)
    checkpoint = Checkpoint(state)
    checkpoint.restore_previous()
    checkpoint.close()
    again = tmp_path / "run"
    _live(again, lines, None)
    _live(state, [], None)
    assert_same_state(state, again)
