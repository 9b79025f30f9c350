"""Reading ahead: poll, decode, pace, featurize; on a thread of its own while the batch before is learned from.

What happens here reads no state of any learner, so where it runs changes nothing.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from streamlin.config import PipelineConfig
from streamlin.errors import ConnectorError
from streamlin.events import Batch, DeadLetter, Position, Records, Source
from streamlin.pace import Pace


@dataclass
class Portion:
    """Consecutive records, decoded and featurized.

    batch, features : their events.
    dead : those that are none.
    records, count : what they were read from; `records` is dealt with up to record `count` once this portion is.
    """

    batch: Batch
    features: Any
    dead: list[DeadLetter]
    records: Records
    count: int


class Decoder(Protocol):
    """What the reader needs of a format."""

    def decode(self, records: Records) -> tuple[Batch, list[DeadLetter]]: ...


class Reader:
    """The source's side of the loop.

    Iterating gives portions in stream order, and None whenever there is nothing to be had yet.

    Parameters
    ----------
    featurize : Batch -> features; must not read what learning changes.
    config : the batch size, and how many dead letters in a row are too many.
    limit : events after which to stop; None: never.
    pace : when events are due; None: at once.
    stop : when set, iteration ends soon.
    """

    def __init__(
        self,
        source: Source,
        decoder: Decoder,
        featurize: Callable[[Batch], Any],
        config: PipelineConfig,
        limit: int | None,
        pace: Pace | None,
        stop: threading.Event,
    ) -> None:
        self._source, self._decoder, self._featurize = source, decoder, featurize
        self._batch_size, self._most_dead = config.batch_size, config.max_consecutive_dead_letters
        self._left, self._pace, self._stop = limit, pace, stop
        self._dead_in_a_row = 0
        self._commits: deque[Mapping[str, Position]] = deque()

    def __iter__(self) -> Iterator[Portion | None]:
        while not self._stop.is_set() and self._left != 0:
            self._commit()
            size = self._batch_size if self._left is None else min(self._batch_size, self._left)
            polled = self._source.poll(size)
            if polled is None:
                break
            if not polled:
                yield None
            for records in polled:
                yield from self._portions(records)

    def commit(self, positions: Mapping[str, Position]) -> None:
        """Have the source told, on its own thread, that everything before `positions` is kept."""
        self._commits.append(positions)

    def close(self) -> None:
        """Hand over the last commits and close the source; once iteration has ended."""
        self._commit()
        self._source.close()

    def _commit(self) -> None:
        while self._commits:
            self._source.commit(self._commits.popleft())

    def _portions(self, records: Records) -> Iterator[Portion]:
        batch, dead = self._decoder.decode(records)
        count = self._tolerable(len(records), dead)
        if count < len(records):
            batch, dead = batch[: int((batch.kept < count).sum())], [d for d in dead if d.record < count]
        if self._left is not None:
            self._left -= len(batch)
        yield from self._paced(batch, dead, records, count)
        if self._dead_in_a_row >= self._most_dead and not self._stop.is_set():
            raise ConnectorError(
                f"{self._most_dead} records in a row could not be read, the last at {records.name(count - 1)}: "
                f"{dead[-1].error}; is this the right format?"
            )

    def _paced(self, batch: Batch, dead: list[DeadLetter], records: Records, count: int) -> Iterator[Portion]:
        if self._pace is None:
            yield Portion(batch, self._featurize(batch), dead, records, count)
            return
        done, sent = 0, 0
        for part in self._pace.release(batch):
            done += len(part)
            upto = count if done == len(batch) else int(part.kept[-1]) + 1
            yield Portion(part, self._featurize(part), [d for d in dead if sent <= d.record < upto], records, upto)
            sent = upto
        if sent < count and done == len(batch):
            yield Portion(batch[:0], self._featurize(batch[:0]), dead, records, count)

    def _tolerable(self, n: int, dead: list[DeadLetter]) -> int:
        """How many of n records come before too many dead letters in a row; counts on from the records before."""
        expected = 0
        for letter in dead:
            if letter.record != expected:
                self._dead_in_a_row = 0
            expected = letter.record + 1
            self._dead_in_a_row += 1
            if self._dead_in_a_row >= self._most_dead:
                return expected
        if expected != n:
            self._dead_in_a_row = 0
        return n


class Ahead:
    """Runs an iterator on a thread of its own, a few items ahead; what it raises is raised where it is read.

    Gives None where the next item is not there yet after `patience` seconds.
    """

    def __init__(self, items: Iterator[Any], depth: int, patience: float, stop: threading.Event) -> None:
        self._queue: queue.Queue[Any] = queue.Queue(depth)
        self._patience, self._stop = patience, stop
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(items,), name="streamlin-reader", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Any]:
        while True:
            try:
                item = self._queue.get(timeout=self._patience)
            except queue.Empty:
                yield None
                continue
            if item is _END:
                break
            yield item
        self._thread.join()
        if self._error is not None:
            raise self._error

    def join(self) -> None:
        """Wait for the thread; it ends at once when `stop` is set."""
        self._thread.join()

    def _run(self, items: Iterator[Any]) -> None:
        try:
            for item in items:
                if item is not None and not self._put(item):
                    break
        except BaseException as error:  # raised again by the thread that reads
            self._error = error
        self._put(_END)

    def _put(self, item: Any) -> bool:
        while not self._stop.is_set():
            try:
                self._queue.put(item, timeout=0.1)
                return True
            except queue.Full:
                pass
        if item is _END:
            self._discard()
            self._queue.put(item)
        return False

    def _discard(self) -> None:
        while True:
            try:
                self._queue.get_nowait()
            except queue.Empty:
                return


_END = object()
