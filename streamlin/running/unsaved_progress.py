"""What was dealt with since the last checkpoint."""

import time
from collections.abc import Container

from streamlin.config import CheckpointConfig
from streamlin.events import Position, Records
from streamlin.streams.reader import Portion


class UnsavedProgress:
    """What was dealt with since the last checkpoint, and whether it is time for the next one; true if it is anything.

    due : how often it is time.
    begins : whether the source has said where parts begin that are in no checkpoint yet. They have to be before
        anything is learned: what a sink commits, or the source itself the next time, may tell otherwise.
    """

    def __init__(self, due: CheckpointConfig) -> None:
        self._due = due
        self._dealt_with: dict[tuple[str, str], tuple[Records, int]] = {}
        self.clear()

    def __bool__(self) -> bool:
        return bool(self._dealt_with)

    def add(self, portion: Portion, known: Container[str]) -> None:
        """A portion was dealt with. known : the parts of its source that are in a checkpoint."""
        part = portion.records.key
        self._dealt_with[portion.source, part] = portion.records, portion.count
        self.begins |= not portion.count and part not in known
        self._events += len(portion.batch)

    def positions(self, source: str) -> dict[str, Position]:
        """Where each part of a source goes on; those that nothing came from are left out."""
        dealt_with = self._dealt_with.items()
        return {part: records.position(count) for (key, part), (records, count) in dealt_with if key == source}

    def is_due(self, now: float) -> bool:
        """Whether it is time for a checkpoint; `now` are monotonic seconds."""
        late = now - self._since >= self._due.every_seconds
        return self._events >= self._due.every_events or (late and bool(self))

    def clear(self) -> None:
        """All of it is in a checkpoint."""
        self._dealt_with.clear()
        self._events, self._since = 0, time.monotonic()
        self.begins = False
