"""The base of all formats: `decode` turns records into a batch and dead letters, `encode` an event into a record."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError, RecordError
from streamlin.events import Batch, DeadLetter, Event, Framing, Records
from streamlin.formats.envelope import Envelope
from streamlin.formats.framing import Lines
from streamlin.formats.lengths import Lengths
from streamlin.formats.schema_frames import frames
from streamlin.formats.utf8 import Indices, spans, texts_of, utf8
from streamlin.formats.values import checked_weights, names

Row = tuple[str, str | None, str | None, float]
"""Text, label, id and weight of a line."""


class Interrupted(Exception):  # noqa: N818  # says what happened
    """Decoding has ended before its end, because the run should; nothing of the records was used."""


class Format(ABC):
    """Turns bytes into events and back.

    A subclass is constructed with its URL options, the configuration of `fields`, and the names of further fields to
    keep (see `streamlin.formats.open_format`).

    name : the value of `format=` that selects it.
    options : the URL options that it accepts; those of streamlin's own formats are in a table in `streamlin.formats`.
    framing : splits a stream of bytes into records.
    envelope : fills in what an event lacks from outside the record's value.
    lengths : of labels, ids and further fields; an event with longer ones is a dead letter.
    delayed_labels : whether a record with an id and a label but no text is the label of the text with that id.
    alone : completes "format … has no", for formats without records that are only labels.
    neither : the error of a record that is neither a text nor such a label.
    per_second : how many of the unit of times that are numbers make a second.
    is_stopped : whether the run should end; formats that may need long for a record ask, and raise `Interrupted`.
    errors_without_text : the errors of records that are well formed and only lack a text (deletions, join notices).
    no_label_hint : completes "no event has a label", for the summary.
    tag_hint : the same where every event has an id, which may be a label at the wrong place; said while a run goes on.
    advice : error -> what helps where many records have it, or all.
    label_rule : what a label is, for the message about too many labels; empty if `fields.label` names it.
    """

    name: ClassVar[str]
    options: ClassVar[frozenset[str]] = frozenset()
    framing: Framing = Lines()
    envelope: Envelope | None = None
    lengths = Lengths()
    delayed_labels = False
    per_second: float = 1.0
    is_stopped: Callable[[], bool] = staticmethod(lambda: False)
    alone: ClassVar[str] = "labels without texts; delayed labels need json, csv or tsv"
    neither: ClassVar[str] = "expected a text, or a label with an id; found neither"
    errors_without_text: frozenset[str] = frozenset({"the text is missing", neither})

    no_label_hint: ClassVar[str] = "set fields.label to its field"
    tag_hint: ClassVar[str] = ""
    label_rule: ClassVar[str] = ""
    advice: Mapping[str, str] = MappingProxyType({})

    def take_delayed_labels(self) -> None:
        """Set `delayed_labels`. Raises ConfigError if the format has no records without a text."""
        raise ConfigError(f"format {self.name} has no {self.alone}")

    def read_times_in(self, per_second: float) -> None:
        """Set `per_second`. Raises ConfigError if the format's times are no numbers."""
        self.per_second = per_second

    @abstractmethod
    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> None: ...

    @abstractmethod
    def batch(self, records: Records, kept: Indices) -> Batch:
        """The events of the records whose numbers are `kept`. Raises RecordError if any of these is not an event."""

    @abstractmethod
    def encode(self, event: Event) -> bytes:
        """One record without its line end. Raises RecordError if it would not be decoded to the same event."""

    def decode(self, records: Records) -> tuple[Batch, list[DeadLetter]]:
        """One event or one dead letter for each record that is not a tombstone, in order."""
        dead = [DeadLetter(i, error) for i, error in records.errors.items()]
        kept = np.delete(np.arange(len(records)), [*records.errors, *records.tombstones])
        if records.are_messages and (framed := frames(records, kept)):
            dead += [DeadLetter(i, error) for i, error in framed.items()]
            kept = np.setdiff1d(kept, list(framed), assume_unique=True)
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
            batch = self.envelope.complete(batch, self.per_second)
        self.lengths.check(batch)
        if batch.label_only is not None:
            self._check_label_only(batch, batch.label_only)
        return batch

    def _check_label_only(self, batch: Batch, label_only: NDArray[np.bool_]) -> None:
        for event in np.flatnonzero(label_only).tolist():
            if batch.ids[event] is None or batch.labels[event] is None:
                raise RecordError(self.neither)

    def check_reads_back(self, records: Records, event: Event) -> None:
        """Raise RecordError if the records are not decoded to exactly `event`."""
        batch, _ = self.decode(records)
        if [comparable(read) for read in batch.events()] != [comparable(event)]:
            raise RecordError(f"{self.name} can't hold this event: it would read back as another one")

    def _bad(self, records: Records, kept: Indices) -> Iterator[DeadLetter]:
        """Find the bad records by bisection: a few of them cost little even in a long batch."""
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
    """A format with one event per line and a few fields, which have no names and no escapes.

    Not every event can be written in such a format; further fields are always None.
    """

    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> None:
        self._extra = extra

    @abstractmethod
    def read(self, line: str) -> Row:
        """Text, label, id and weight of a line. Raises RecordError."""

    @abstractmethod
    def write(self, event: Event) -> str:
        """The line of an event; it need not read back as the same event (`encode` checks that)."""

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`."""
        return self.batch_of([self.read(line) for line in texts_of(records.data, *spans(records, kept))], records, kept)

    def batch_of(self, rows: Sequence[Row], records: Records, kept: Indices) -> Batch:
        """The batch of what `read` returned for the records whose numbers are `kept`."""
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
        """The event's line. Raises RecordError if it would not be decoded to the same event."""
        line = utf8(self.write(event))
        data = line + b"\n"
        starts, ends, _ = self.framing(data, True)
        self.check_reads_back(Records(data, starts, ends, starts, ends + 1, "-"), event)
        return line


def comparable(event: Event) -> Event:
    """The event without extra fields whose value is None."""
    extra = {name: value for name, value in event.extra.items() if value is not None}
    return Event(event.text, event.label, event.id, event.weight, event.time, extra)


def without_text(columns: Sequence[Sequence[Any]]) -> NDArray[np.bool_] | None:
    """bool[n], the events without any text field; None if every event has one."""
    label_only = np.array([values.count(None) == len(values) for values in zip(*columns, strict=True)], np.bool_)
    return label_only if label_only.any() else None


def texts_and_pieces(
    columns: Sequence[Sequence[str | None]], missing: str, label_only: NDArray[np.bool_] | None = None
) -> tuple[list[str], Indices | None]:
    """`texts` and `pieces` of a batch from the columns of its text fields.

    None is skipped. Raises RecordError(missing) where an event has only None and is not `label_only`.
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
        return list(columns[0]), None  # type: ignore[arg-type]  # checked above
    texts, pieces = [], [0]
    for values in zip(*columns, strict=True):
        texts += [value for value in values if value is not None]
        if len(texts) == pieces[-1]:
            raise RecordError(missing)
        pieces.append(len(texts))
    return texts, np.array(pieces, np.int64)
