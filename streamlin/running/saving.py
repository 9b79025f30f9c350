"""Saving a run: sinks, checkpoint, commits to the sources, in this order."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from streamlin.checkpoint.run_state import RunState
from streamlin.events import Position
from streamlin.running.background_tasks import BackgroundTasks
from streamlin.running.unsaved_progress import UnsavedProgress
from streamlin.sharding.model import ShardedModel
from streamlin.sharding.plan_log import PlanLog
from streamlin.streams.reader import Portion, Reader
from streamlin.streams.sinks import Sinks
from streamlin.streams.stage_times import StageTimes


class RunSaver:
    """Flushes the sinks, writes the checkpoint, commits to the sources: in this order, or a crash loses something.

    Parameters
    ----------
    state : what is saved. readers : those of the sources, that of the events first.
    sinks, writer : the sinks, and the background tasks that write to them.
    stages : where the time is counted.
    notice : shows the user one line. plans : of the rounds of shards, which a checkpoint makes superfluous.
    """

    def __init__(
        self,
        state: RunState,
        readers: Sequence[Reader],
        sinks: Sinks,
        writer: BackgroundTasks,
        stages: StageTimes,
        notice: Callable[[str], None],
        plans: PlanLog | None = None,
    ) -> None:
        self._plans = plans
        self._state, self._readers, self._sinks, self._writer = state, readers, sinks, writer
        self._stages, self._notice = stages, notice
        self.unsaved = UnsavedProgress(state.config.checkpoint)

    def add(self, portion: Portion) -> None:
        """A portion has been processed; it is in the next checkpoint."""
        self.unsaved.add(portion, self._state.positions.get(portion.source, {}))

    def positions(self, source: str) -> dict[str, Position]:
        """Where reading of each part of a source resumes: after what has been processed."""
        return self._state.positions.get(source, {}) | self.unsaved.positions(source)

    def save_if_due(self, now: float) -> None:
        """Save if it is time to; raise what went wrong with the last save. `now` is in monotonic seconds."""
        if self.unsaved.is_due(now):
            self.save()
        self._state.check()

    def finish(self) -> None:
        """Save what is unsaved, and wait until everything is on disk."""
        if self.unsaved:
            self.save(wait=True)
        else:
            self._state.wait()

    def save(self, wait: bool = False) -> None:
        """Save the run. wait : until everything is on disk; otherwise the checkpoint is written in the background."""
        begin = time.perf_counter()
        positions = {reader.key: self.positions(reader.key) for reader in self._readers}
        self._state.positions |= positions
        self._writer.wait()
        self._state.lengths = self._sinks.sync(positions[self._readers[0].key])
        self.unsaved.clear()
        if not self._state.has_checkpoint:
            self._commit(positions, 0)
            return
        self._state.save(partial(self._saved, positions, self._rounds()), wait)
        self._stages.add("checkpoint", begin)
        for line in self._state.model.pop_notices():  # of external models that could not be saved
            self._notice(line)

    def _rounds(self) -> int:
        model = self._state.model
        return model.rounds.number if isinstance(model, ShardedModel) else 0

    def _saved(self, positions: Mapping[str, Mapping[str, Position]], rounds: int, number: int) -> None:
        """Checkpoint `number` is on disk, with so many rounds of shards."""
        if self._plans is not None:
            self._plans.saved(rounds)
        self._commit(positions, number)

    def _commit(self, positions: Mapping[str, Mapping[str, Position]], number: int) -> None:
        """Commit to the sources, except to the first if a sink commits for it.

        This commit comes later than the sink's own, and might undo the sink's next one.
        """
        for reader in self._readers[self._sinks.commit_positions :]:
            reader.commit(positions[reader.key], number)
