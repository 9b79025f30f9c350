"""A base for sources that read blocks of records and return them in portions."""

import time
from abc import ABC, abstractmethod
from collections import deque

from connectors.records import PartRecords
from streamlin.events import FEW, Records

PAUSE = 0.05
"""Seconds that `read` waits for data; `poll` takes at most twice as long."""


class PolledSource(ABC):
    """A source over blocks: `read` returns the records of one block, `poll` returns them in portions."""

    def __init__(self) -> None:
        self._waiting: deque[PartRecords] = deque()

    @abstractmethod
    def read(self) -> list[PartRecords] | None:
        """The next records; [] if there are none yet (after waiting up to `PAUSE`), None at the end."""

    def poll(self, limit: int) -> list[Records] | None:
        """Up to `limit` records of one part. See `streamlin.events.Source`.

        A small rest of a block is shared out with what comes before it: few records seem to be all that a source has.
        """
        deadline = time.monotonic() + PAUSE
        while not self._waiting:
            more = self.read()
            if more is None:
                return None
            self._waiting.extend(more)
            if not more and time.monotonic() >= deadline:
                return []
        return [self._next_portion(limit)]

    def _next_portion(self, limit: int) -> PartRecords:
        records = self._waiting.popleft()
        rest = len(records) - limit
        count = (len(records) + 1) // 2 if 0 < rest * FEW < limit else min(limit, len(records))
        if count < len(records):
            self._waiting.appendleft(records.between(count, len(records)))
        return records.between(0, count)
