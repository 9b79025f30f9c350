"""Handing out records, some at a time, from a reader that gives what it has."""

import time
from abc import ABC, abstractmethod
from collections import deque

from connectors.records import PartRecords
from streamlin.events import Records

PAUSE = 0.05
"""Seconds that a reader waits before it looks again; twice that is the most that `poll` takes."""


class PolledSource(ABC):
    """A source over blocks: `read` gives what one block holds, `poll` hands it out in the portions asked for."""

    def __init__(self) -> None:
        self._waiting: deque[PartRecords] = deque()

    @abstractmethod
    def read(self) -> list[PartRecords] | None:
        """The next records; [] if there are none yet (having waited up to `PAUSE`), None at the end for good."""

    def poll(self, limit: int) -> list[Records] | None:
        """Up to `limit` records of one part. See `streamlin.events.Source`."""
        deadline = time.monotonic() + PAUSE
        while not self._waiting:
            more = self.read()
            if more is None:
                return None
            self._waiting.extend(more)
            if not more and time.monotonic() >= deadline:
                return []
        return [self._take(limit)]

    def _take(self, limit: int) -> PartRecords:
        records = self._waiting.popleft()
        if limit < len(records):
            self._waiting.appendleft(records.between(limit, len(records)))
        return records.between(0, limit)
