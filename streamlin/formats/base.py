"""What every format has: `decode`, which turns records into a batch and dead letters, and `encode`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamlin.config import FieldsConfig
from streamlin.errors import DecodeError, RecordError
from streamlin.events import Batch, DeadLetter, Event, Framing, Records, single_records
from streamlin.formats.framing import Lines
from streamlin.formats.values import checked_weights, names

BOM = b"\xef\xbb\xbf"
Indices = NDArray[np.int64]


class Format(ABC):
    """Bytes to events and back.

    A subclass is opened with the URL options it takes, the configuration of `fields`, and the names of further
    fields to keep (see `streamlin.formats.open_format`).

    name : what `format=` calls it.
    framing : how a stream of bytes falls into its records.
    """

    name: ClassVar[str]
    framing: Framing = Lines()

    @abstractmethod
    def batch(self, records: Records, kept: Indices) -> Batch:
        """The events of the records whose numbers are `kept`. Raises RecordError if any of them is none."""

    @abstractmethod
    def encode(self, event: Event) -> bytes:
        """One record without its line end. Raises RecordError if it would not read back as this event."""

    def decode(self, records: Records) -> tuple[Batch, list[DeadLetter]]:
        """One event or one dead letter for each record, in order."""
        dead = [DeadLetter(i, error) for i, error in records.errors.items()]
        kept = np.delete(np.arange(len(records)), [letter.record for letter in dead])
        try:
            batch = self.batch(records, kept)
        except RecordError:
            bad = list(self._bad(records, kept))
            dead += bad
            batch = self.batch(records, np.setdiff1d(kept, [letter.record for letter in bad], assume_unique=True))
        return batch, sorted(dead)

    def _bad(self, records: Records, kept: Indices) -> Iterator[DeadLetter]:
        """Find the bad ones by halving: few bad records cost little, however long the batch."""
        try:
            self.batch(records, kept)
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
        if not self._reads_back(line, event):
            raise RecordError(f"{self.name} can't hold this event: it would read back as another one")
        return line

    def _reads_back(self, line: bytes, event: Event) -> bool:
        starts, ends, _ = self.framing(line + b"\n", True)
        if starts.tolist() != [0] or ends.tolist() != [len(line)]:
            return False
        batch, _ = self.decode(single_records([line]))
        return [plain(read) for read in batch.events()] == [plain(event)]


def plain(event: Event) -> Event:
    """The event without the extra fields that it has no value for."""
    extra = {name: value for name, value in event.extra.items() if value is not None}
    return Event(event.text, event.label, event.id, event.weight, event.time, extra)


def utf8(text: str) -> bytes:
    """Raises RecordError for a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise RecordError(f"no UTF-8 for {text[error.start]!r} at position {error.start}") from None


def spans(records: Records, kept: Indices) -> tuple[Indices, Indices]:
    """Where the kept records begin and end in `records.data`; a byte order mark at the start of a part left out."""
    starts, ends = records.starts[kept], records.ends[kept]
    for i in np.flatnonzero(records.offsets[kept] == 0):
        if records.data.startswith(BOM, starts[i], ends[i]):
            starts[i] += len(BOM)
    return starts, ends


def texts_of(data: bytes, starts: Indices, ends: Indices) -> list[str]:
    """`data[start:end]` as text for each pair. Raises DecodeError."""
    try:
        return [str(data[start:end], "utf-8") for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    except UnicodeDecodeError as error:
        raise not_utf8(error) from None


def check_utf8(data: bytes, starts: Indices, ends: Indices) -> None:
    """Raises DecodeError if any of the records is not UTF-8, whatever part of it is going to be read."""
    first = np.frombuffer(data, np.uint8)[starts[starts < ends]]
    whole = data[starts[0] : ends[-1]] if starts.size else b""
    if whole.isascii() or (is_utf8(whole) and not ((first & 0xC0) == 0x80).any()):
        return
    texts_of(data, starts, ends)


def is_utf8(data: bytes) -> bool:
    """Whether it is UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def not_utf8(error: UnicodeDecodeError) -> DecodeError:
    """What is to be said of it."""
    return DecodeError(f"not UTF-8: byte 0x{error.object[error.start]:02x} at position {error.start}")


def joined(columns: Sequence[Sequence[str | None]], missing: str) -> tuple[list[str], Indices | None]:
    """`texts` and `pieces` of a batch from the columns of its text fields.

    A None is passed over; where an event has nothing else, RecordError(missing) is raised.
    """
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
