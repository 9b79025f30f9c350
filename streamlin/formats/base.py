"""What every format has: `decode`, which turns records into a batch and dead letters, and `encode`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Batch, DeadLetter, Event, Framing, Records
from streamlin.formats.envelope import Envelope
from streamlin.formats.framing import Lines
from streamlin.formats.utf8 import Indices, spans, texts_of, utf8
from streamlin.formats.values import checked_weights, names


class Format(ABC):
    """Bytes to events and back.

    A subclass is opened with the URL options it takes, the configuration of `fields`, and the names of further
    fields to keep (see `streamlin.formats.open_format`).

    name : what `format=` calls it.
    options : the URL options that it takes; streamlin's own formats have them in a table.
    framing : how a stream of bytes falls into its records.
    envelope : looks outside the record for what an event lacks.
    delayed_labels : whether a record with an id and a label needs no text: it is the label of the text of that id.
    """

    name: ClassVar[str]
    options: ClassVar[frozenset[str]] = frozenset()
    framing: Framing = Lines()
    envelope: Envelope | None = None
    delayed_labels = False

    def take_delayed_labels(self) -> None:
        """Set `delayed_labels`. Raises ConfigError where the format has no such records."""
        raise ConfigError(f"format {self.name} has no labels without texts; delayed labels need json, csv or tsv")

    @abstractmethod
    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> None: ...

    @abstractmethod
    def batch(self, records: Records, kept: Indices) -> Batch:
        """The events of the records whose numbers are `kept`. Raises RecordError if any of them is none."""

    @abstractmethod
    def encode(self, event: Event) -> bytes:
        """One record without its line end. Raises RecordError if it would not read back as this event."""

    def decode(self, records: Records) -> tuple[Batch, list[DeadLetter]]:
        """One event or one dead letter for each record that is no tombstone, in order."""
        dead = [DeadLetter(i, error) for i, error in records.errors.items()]
        kept = np.delete(np.arange(len(records)), [*records.errors, *records.tombstones])
        try:
            batch = self._complete(records, kept)
        except RecordError:
            bad = list(self._bad(records, kept))
            dead += bad
            batch = self._complete(records, np.setdiff1d(kept, [letter.record for letter in bad], assume_unique=True))
        return batch, sorted(dead)

    def _complete(self, records: Records, kept: Indices) -> Batch:
        batch = self.batch(records, kept)
        if self.envelope is not None:
            batch = self.envelope.complete(batch)
        if batch.label_only is not None:
            _check_label_only(batch, batch.label_only)
        return batch

    def check_reads_back(self, records: Records, event: Event) -> None:
        """Raise RecordError if the records, which are to hold `event`, would be read as anything else."""
        batch, _ = self.decode(records)
        if [plain(read) for read in batch.events()] != [plain(event)]:
            raise RecordError(f"{self.name} can't hold this event: it would read back as another one")

    def _bad(self, records: Records, kept: Indices) -> Iterator[DeadLetter]:
        """Find the bad ones by halving: few bad records cost little, however long the batch."""
        try:
            self._complete(records, kept)
        except RecordError as error:
            if kept.size == 1:
                yield DeadLetter(int(kept[0]), str(error))
                return
            half = kept.size // 2
            yield from self._bad(records, kept[:half])
            yield from self._bad(records, kept[half:])


class LineFormat(Format):
    """A format of one event a line that has few fields, no names for them and no escapes.

    Not every event can be written in it; further fields there are none.
    """

    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> None:
        self._extra = extra

    @abstractmethod
    def read(self, line: str) -> tuple[str, str | None, str | None, float]:
        """Text, label, id and weight of a line. Raises RecordError."""

    @abstractmethod
    def write(self, event: Event) -> str:
        """The line of an event, as well as it can be written."""

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`."""
        rows = [self.read(line) for line in texts_of(records.data, *spans(records, kept))]
        texts, labels, ids, weights = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [])
        return Batch(
            ids=names(ids),
            texts=texts,
            labels=names(labels),
            weights=checked_weights(weights),
            times=np.full(len(rows), np.nan),
            extra={name: [None] * len(rows) for name in self._extra},
            records=records,
            kept=kept,
        )

    def encode(self, event: Event) -> bytes:
        """The event's line; RecordError where it does not read back as the same event."""
        line = utf8(self.write(event))
        data = line + b"\n"
        starts, ends, _ = self.framing(data, True)
        self.check_reads_back(Records(data, starts, ends, starts, ends + 1, "-"), event)
        return line


def plain(event: Event) -> Event:
    """The event without the extra fields that it has no value for."""
    extra = {name: value for name, value in event.extra.items() if value is not None}
    return Event(event.text, event.label, event.id, event.weight, event.time, extra)


def _check_label_only(batch: Batch, label_only: NDArray[np.bool_]) -> None:
    for event in np.flatnonzero(label_only).tolist():
        if batch.ids[event] is None or batch.labels[event] is None:
            raise RecordError("there is no text, and no label with an id either")


def without_text(columns: Sequence[Sequence[str | None]]) -> NDArray[np.bool_] | None:
    """bool[n], the events of which no text field is there; None where there is no such event."""
    label_only = np.array([set(values) == {None} for values in zip(*columns, strict=True)], np.bool_)
    return label_only if label_only.any() else None


def texts_and_pieces(
    columns: Sequence[Sequence[str | None]], missing: str, label_only: NDArray[np.bool_] | None = None
) -> tuple[list[str], Indices | None]:
    """`texts` and `pieces` of a batch from the columns of its text fields.

    A None is passed over; where an event has nothing else and is not `label_only`, RecordError(missing) is raised.
    """
    if label_only is not None:
        first, *rest = columns
        columns = [
            ["" if only else text for text, only in zip(first, label_only.tolist(), strict=True)],
            *rest,
        ]
    if len(columns) == 1:
        if None in columns[0]:
            raise RecordError(missing)
        return list(columns[0]), None  # type: ignore[arg-type]  # there is no None
    texts, pieces = [], [0]
    for values in zip(*columns, strict=True):
        texts += [value for value in values if value is not None]
        if len(texts) == pieces[-1]:
            raise RecordError(missing)
        pieces.append(len(texts))
    return texts, np.array(pieces, np.int64)
