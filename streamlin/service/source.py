"""A journal as the source of a run."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from streamlin.events import Position, Records
from streamlin.formats.json import JsonFormat
from streamlin.service.journal import Journal

PART = "requests"
"""What checkpoints call both the source and its one part."""
_PAUSE = 0.1


@dataclass
class JournalRecords(Records):
    """first : how many lines of the journal are before them."""

    first: int = 0

    def position(self, count: int) -> Position:
        return {"offset": self.first + count, "byte": int(self.nexts[count - 1])}


class JournalSource:
    """Reads on from where a checkpoint left off; see `streamlin.events.Source`.

    Parameters
    ----------
    journal : what to read.
    position : where it was opened.

    Attributes
    ----------
    taken : lines before what is handed over next.
    """

    key = PART

    def __init__(self, journal: Journal, position: Position | None, lines: JsonFormat) -> None:
        self.format, self.taken = lines, journal.begin
        self._journal = journal
        self._byte = self._kept = position["byte"] if position else 0

    def poll(self, limit: int) -> list[Records] | None:
        """Up to `limit` records; None once the journal has ended and all is read."""
        if not self._journal.wait(self._byte, _PAUSE):
            return None if self._journal.ended else []
        data = self._journal.read(self._byte)
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))[:limit]
        starts = np.append(0, ends[:-1] + 1)
        data = data[: ends[-1]]
        nexts = ends + 1 + self._byte
        records = JournalRecords(data, starts, ends, starts + self._byte, nexts, PART, first=self.taken)
        self._byte = int(nexts[-1])
        self.taken += len(records)
        return [records]

    def extent(self) -> Mapping[str, tuple[int, int]]:
        """Lines at the beginning, and in all."""
        return {PART: (self._journal.begin, self._journal.lines)}

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Forget what not even the checkpoint before this one needs."""
        self._journal.forget(self._kept)
        if PART in positions:
            self._kept = positions[PART]["byte"]

    def close(self) -> None:
        """The journal is its owner's."""
