"""A journal as the source of a run."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from streamlin.events import Position, Records
from streamlin.formats.json import JsonFormat
from streamlin.service.journal import Journal

PART = "requests"
"""The name of the source, and of its only part, in checkpoints."""
_PAUSE = 0.1


@dataclass
class JournalRecords(Records):
    """first : the number of lines in the journal before these records."""

    first: int = 0

    def position(self, count: int) -> Position:
        return {"offset": self.first + count, "byte": int(self.nexts[count - 1])}


class JournalSource:
    """Reads the journal from a checkpoint's position on; see `streamlin.events.Source`.

    Parameters
    ----------
    journal : the journal to read.
    position : where it was opened.

    Attributes
    ----------
    taken : the number of lines that `poll` has returned, and that came before the position.
    learned : those of them that are learned; the run asks for more when it has learned what it has.
    """

    key = PART

    def __init__(self, journal: Journal, position: Position | None, lines: JsonFormat) -> None:
        self.format, self.taken, self.learned = lines, journal.begin, journal.begin
        self._journal = journal
        self._byte = self._kept = position["byte"] if position else 0

    def poll(self, limit: int) -> list[Records] | None:
        """Up to `limit` records; None once the journal has ended and everything is read."""
        self.learned = self.taken
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
        """The number of lines before the position, and in all."""
        return {PART: (self._journal.begin, self._journal.lines)}

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Delete segments that not even the previous checkpoint needs."""
        self._journal.forget(self._kept)
        if PART in positions:
            self._kept = positions[PART]["byte"]

    def close(self) -> None:
        """Does nothing: the journal belongs to the service."""
