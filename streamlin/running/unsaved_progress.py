"""What has been processed since the last checkpoint."""

import time
from collections.abc import Container

from streamlin.config import CheckpointConfig
from streamlin.events import Position, Records
from streamlin.streams.reader import Portion


class UnsavedProgress:
    """What has been processed since the last checkpoint, and whether the next one is due; true if there is anything.

    config : how often a checkpoint is due.
    has_new_parts : whether the source has announced where parts begin that no checkpoint knows yet. These positions are
        saved before anything of the parts is learned: what a sink commits, or what the source announces after a
        restart, may differ.
    """

    def __init__(self, config: CheckpointConfig) -> None:
        self._config = config
        self._processed: dict[tuple[str, str], tuple[Records, int, str | None]] = {}
        self.clear()

    def __bool__(self) -> bool:
        return bool(self._processed)

    def add(self, portion: Portion, known: Container[str]) -> None:
        """A portion has been processed. known : the parts of its source that are in a checkpoint."""
        part = portion.records.key
        self._processed[portion.source, part] = portion.records, portion.count, portion.last_error
        self.has_new_parts |= not portion.count and part not in known
        self._events += len(portion.batch)

    def positions(self, source: str) -> dict[str, Position]:
        """Where reading of each part of a source resumes; parts without new records are left out."""
        processed = self._processed.items()
        return {part: _position(*known) for (key, part), known in processed if key == source}

    def is_due(self, now: float) -> bool:
        """Whether a checkpoint is due; `now` is in monotonic seconds."""
        is_late = now - self._since >= self._config.every_seconds
        return self._events >= self._config.every_events or (is_late and bool(self))

    def clear(self) -> None:
        """Everything is in a checkpoint."""
        self._processed.clear()
        self._events, self._since = 0, time.monotonic()
        self.has_new_parts = False


def _position(records: Records, count: int, last_error: str | None) -> Position:
    """The position behind `count` records; with the error of the last one, if that may have been read too early."""
    position = records.position(count)
    return position | {"error": last_error} if last_error is not None and "unended" in position else position
