"""Counts what is read over: NULs before records, headers that come again."""

from collections.abc import Callable


class Counted:
    """Counts what is read over; a notice tells of it the first time, another one of all of it at the end.

    what : names them with a verb, such as "NUL bytes before a record were".
    """

    def __init__(self, part: str, what: str, notice: Callable[[str], None]) -> None:
        self._part, self._what, self._notice = part, what, notice
        self._said = self._count = 0

    def add(self, count: int) -> None:
        """Count some more."""
        self._count += count

    def tell(self) -> None:
        """Say how many there were so far, the first time."""
        if self._count and not self._said:
            self._said = self._count
            self._notice(f"{self._part}: {self._count:,} {self._what} read over")

    def finish(self) -> None:
        """The part ends here: say how many there were in all, if they were more than was said."""
        if self._count > self._said:
            self._notice(f"{self._part}: {self._count:,} {self._what} read over in all")
        self._said = self._count
