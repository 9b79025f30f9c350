"""What became of the records of one reading: many dead letters are worth a line, nothing but dead letters an error."""

from collections.abc import Callable, Mapping
from typing import Protocol

from streamlin.errors import ConnectorError
from streamlin.evaluation.dead_letter_kinds import DeadLetterKinds
from streamlin.events import Batch, DeadLetter

_ENOUGH = 1000
"""Records after which a share is worth a line while the source is still being read."""
_MANY = 10
"""One dead letter in so many records is worth a line."""


class Read(Protocol):
    """Records that have been decoded: `streamlin.streams.reader.Portion`."""

    batch: Batch
    dead: list[DeadLetter]


class ReadRecords:
    """Counts the events and dead letters of one reading, and says once that more than a tenth are dead letters.

    notice : shows the user one line.
    advice : kind of dead letter -> what helps; see `streamlin.formats.base.Format`.
    """

    def __init__(self, notice: Callable[[str], None], advice: Mapping[str, str]) -> None:
        self._notice, self._advice, self._said = notice, advice, False
        self._events = self.dead_letters = 0
        self._kinds = DeadLetterKinds()

    def add(self, portion: Read) -> None:
        """Count a portion; a label alone is an event here, since its record could be read."""
        self._events += len(portion.batch)
        self.dead_letters += len(portion.dead)
        self._kinds.add(portion.dead)
        if self._events and self._events + self.dead_letters >= _ENOUGH:
            self._say_if_many()

    def end(self, source: str, nothing_before: bool = True) -> None:
        """The source has ended.

        source : its address, for a message.
        nothing_before : whether no event of the source was read at an earlier time.

        Raises
        ------
        ConnectorError : the source is not empty, and none of its records became an event.
        """
        if self.dead_letters and not self._events and nothing_before:
            raise ConnectorError(
                f"nothing in {source} could be read: all {self.dead_letters:,} records are dead letters, "
                f"{self._commonest()}; are the format and the fields right?"
            )
        self._say_if_many()

    def _say_if_many(self) -> None:
        records = self._events + self.dead_letters
        if self._said or self.dead_letters * _MANY <= records:
            return
        self._said = True
        self._notice(
            f"{self.dead_letters:,} of {records:,} records are dead letters, {self._commonest()}; "
            "what is measured holds for the other records only"
        )

    def _commonest(self) -> str:
        """The commonest kind, and what helps, if that is known."""
        kind, number = next(iter(self._kinds.by_frequency().items()))
        share, advice = f"{number:,}" if len(self._kinds.counts) > 1 else "all", self._advice.get(kind)
        return f"{share} of them: {kind}" + (f"; {advice}" if advice else "")
