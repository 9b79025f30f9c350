"""The reading side of the loop: poll, decode, pace, featurize.

Nothing here reads the state of a learner, so it may run ahead on its own thread.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from streamlin.config import PipelineConfig
from streamlin.errors import ConnectorError
from streamlin.evaluation.dead_letter_kinds import kind_of
from streamlin.events import FEW, Batch, DeadLetter, Position, Records, Source
from streamlin.formats.base import Format, Interrupted
from streamlin.kernel.late import use_idle_time
from streamlin.streams.replay_pace import Pace
from streamlin.streams.stage_times import StageTimes

_MUCH = 1 << 16
"""So many bytes are not few records of a live source, but long texts of a file, which is read in blocks."""


def are_few(records: int, size: int, batch_size: int) -> bool:
    """Whether records that came together, of `size` bytes, take less time than handing them to another thread."""
    return records * FEW < batch_size and size < _MUCH


@dataclass
class Portion:
    """Consecutive records, decoded and featurized.

    batch : the events. found : their features, or the future of them.
    dead : the records that could not become events.
    records, begin, count : the portion covers `records` from record `begin` up to, not including, record `count`.
    source : what a checkpoint calls the source.
    is_small : whether few records came, see `are_few`: these and those that the source gave with them, of other parts.
    """

    batch: Batch
    found: Any
    dead: list[DeadLetter]
    records: Records
    begin: int
    count: int
    source: str
    is_small: bool = False

    @property
    def features(self) -> Any:
        """The events' features; waits for them if another thread still finds them."""
        return self.found.result() if isinstance(self.found, Future) else self.found

    @property
    def size(self) -> int:
        """The number of bytes of the records."""
        return self.records.n_bytes(self.begin, self.count)

    @property
    def tombstones(self) -> int:
        """Number of tombstones among the records."""
        return sum(1 for record in self.records.tombstones if self.begin <= record < self.count)

    @property
    def lost(self) -> int:
        """Number of records before the first one that are gone."""
        return self.records.lost if self.begin == 0 else 0

    @property
    def last_error(self) -> str | None:
        """The error of the last record; None if that became an event."""
        return self.dead[-1].error if self.dead and self.dead[-1].record == self.count - 1 else None

    @property
    def mended(self) -> str | None:
        """The error of a dead letter of an earlier run that no longer counts."""
        return self.records.mended if self.begin == 0 else None


class Reader:
    """The reading side of the loop.

    Iterating gives portions in stream order, and None whenever the source has nothing yet.

    Parameters
    ----------
    featurize : Batch -> features, or the future of them; must not read anything that learning changes.
    config : the batch size, and how many dead letters in a row are too many.
    limit : events after which to stop; None: never.
    pace : when events are due; None: at once.
    stop : when set, the iteration ends soon.
    key : what a checkpoint calls the source.
    stages : where the time is counted.
    """

    def __init__(
        self,
        source: Source,
        decoder: Format,
        featurize: Callable[[Batch], Any],
        config: PipelineConfig,
        limit: int | None,
        pace: Pace | None,
        stop: threading.Event,
        key: str = "",
        stages: StageTimes | None = None,
    ) -> None:
        self._stages = StageTimes() if stages is None else stages
        self.source, self.key = source, key
        self.decoder, self._featurize = decoder, featurize
        self._batch_size, self._max_dead = config.batch_size, config.max_consecutive_dead_letters
        self._left, self._pace, self._stop = limit, pace, stop
        self._dead_in_a_row, self._has_events = 0, False
        self._commits: deque[tuple[Mapping[str, Position], int]] = deque()

    def __iter__(self) -> Iterator[Portion | None]:
        while not self._stop.is_set() and self._left != 0:
            self.pass_on_commits()
            size = self._batch_size if self._left is None else min(self._batch_size, self._left)
            begin = perf_counter()
            polled = self.source.poll(size)
            self._stages.add("read", begin)
            if polled is None:
                break
            if not polled:
                use_idle_time()
                yield None
            n_bytes = sum(records.n_bytes(0, len(records)) for records in polled)
            few = are_few(sum(map(len, polled)), n_bytes, self._batch_size)
            for records in polled:
                yield from self._portions(records, few)

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Everything before `positions` is in checkpoint `number`: have that passed on to the source, on its thread."""
        self._commits.append((positions, number))

    def close(self) -> None:
        """Pass on the last commits and close the source; call it once the iteration has ended."""
        self.pass_on_commits()
        self.source.close()

    def pass_on_commits(self) -> None:
        """Pass the commits on to the source; call it on the thread that polls."""
        while self._commits:
            self.source.commit(*self._commits.popleft())

    def _portions(self, records: Records, few: bool) -> Iterator[Portion]:
        begin = perf_counter()
        try:
            batch, dead = self.decoder.decode(records)
        except Interrupted:  # only when the run is to end: it resumes before these records
            return
        self._stages.add("decode", begin)
        self._has_events = self._has_events or len(batch) > 0
        count = self._count_before_too_many_dead(len(records), dead)
        if count < len(records):
            batch, dead = batch[: int((batch.kept < count).sum())], [d for d in dead if d.record < count]
        if self._left is not None:
            self._left -= batch.n_texts
        yield from self._paced(batch, dead, records, count, few)
        if self._dead_in_a_row >= self._max_dead and not self._stop.is_set():
            hint = self.decoder.advice.get(kind_of(dead[-1].error), "")
            raise ConnectorError(
                f"{self._max_dead} records in a row could not be read, the last at {records.name(count - 1)}: "
                f"{dead[-1].error}; are the format and the fields right? "
                f"pipeline.max_consecutive_dead_letters is the limit{hint and f'; {hint}'}"
            )

    def _paced(
        self, batch: Batch, dead: list[DeadLetter], records: Records, count: int, few: bool
    ) -> Iterator[Portion]:
        if self._pace is None:
            yield Portion(batch, self._featurize(batch), dead, records, 0, count, self.key, few)
            return
        done, sent = 0, 0
        for part in self._pace.release(batch):
            done += len(part)
            upto = count if done == len(batch) else int(part.kept[-1]) + 1
            letters = [letter for letter in dead if sent <= letter.record < upto]
            few = are_few(upto - sent, records.n_bytes(sent, upto), self._batch_size)
            yield Portion(part, self._featurize(part), letters, records, sent, upto, self.key, few)
            sent = upto
        if done == len(batch) and (sent < count or not len(records)):
            yield Portion(batch[:0], self._featurize(batch[:0]), dead, records, sent, count, self.key, is_small=True)

    def _count_before_too_many_dead(self, n: int, dead: list[DeadLetter]) -> int:
        """Number of the n records up to one dead letter in a row too many; continues the count of earlier records.

        Once there was an event, a well-formed record without a text is no sign of a wrong format and ends the row.
        """
        expected = 0
        for letter in dead:
            if self._has_events and letter.error in self.decoder.errors_without_text:
                continue
            if letter.record != expected:
                self._dead_in_a_row = 0
            expected = letter.record + 1
            self._dead_in_a_row += 1
            if self._dead_in_a_row >= self._max_dead:
                return expected
        if expected != n:
            self._dead_in_a_row = 0
        return n
