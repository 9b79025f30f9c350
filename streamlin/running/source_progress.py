"""How far a run is in its source: not what is read of it, but what is learned."""

from collections.abc import Callable

from streamlin.events import ReadBytes
from streamlin.streams.reader import Portion, Reader


class SourceProgress:
    """Tells how many bytes of a reader's source are learned.

    What is read and waits may be much of it: blocks of a megabyte, which take minutes where the pace is slow, or a
    round of shards.
    """

    def __init__(self, reader: Reader) -> None:
        self._key, self._learned = reader.key, 0
        self._read: Callable[[], ReadBytes | None] = getattr(reader.source, "progress", lambda: None)

    def add(self, portion: Portion) -> None:
        """A portion is learned, perhaps one of another source."""
        if portion.source == self._key:
            self._learned += portion.size

    def done(self) -> tuple[int, int] | None:
        """The bytes that are learned, and those of the whole source; None if it can't tell."""
        found = self._read()
        if found is None:
            return None
        waiting = (found.records - self._learned) / found.expansion
        return max(0, round(found.read - waiting)), found.total
