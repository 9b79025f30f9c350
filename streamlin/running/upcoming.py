"""An iterator whose next item can be looked at before it is taken."""

from collections.abc import Iterator

from streamlin.sharding.rounds import Round
from streamlin.streams.reader import Portion

Item = Portion | Round | None


class Upcoming(Iterator[Item]):
    """The items of an iterator. What it raises when looked at is raised when the item is taken."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._next: Item = None
        self._error: Exception | None = None

    def __next__(self) -> Item:
        if self._error is not None:
            raise self._error
        if self._next is None:
            return next(self._items)
        item, self._next = self._next, None
        return item

    def peek(self) -> Round | None:
        """The round that comes next, if it is there."""
        if self._next is None and self._error is None:
            try:
                self._next = next(self._items)
            except Exception as error:  # StopIteration, too
                self._error = error
        return self._next if isinstance(self._next, Round) else None
