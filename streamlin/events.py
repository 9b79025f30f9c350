"""The types that everything else uses: records, events, batches, labels; and the interfaces of sources and sinks.

A source hands over `Records`, a format makes a `Batch` of them, and both hold columns: no object is made for a single
event on the way through the pipeline. `Event` is for people and tests.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from streamlin.errors import spelled

BOM = b"\xef\xbb\xbf"
_NUL = b"\0"
MAX_WEIGHT = 1e9
"""The largest weight of an event: sums of any number of them, and their products in the learners, stay finite."""

Position = dict[str, Any]
"""Where to read next in one part of a source; JSON-able. `offset` is always there."""


@dataclass(frozen=True)
class Event:
    """One decoded record.

    label : None for no label.
    weight : how much the event counts, 0 to `MAX_WEIGHT`.
    time : Unix seconds, or None.
    extra : other fields by (dotted) name, for slices and categories.
    """

    text: str
    label: str | None = None
    id: str | None = None
    weight: float = 1.0
    time: float | None = None
    extra: Mapping[str, str | None] = field(default_factory=dict)


@dataclass
class Records:
    """Consecutive records of one part of a source (a file, a partition), as columns over one buffer.

    data : the buffer; it may hold more than the records (line ends, bytes before the first one).
    starts, ends : int64[n]; record i is `data[starts[i]:ends[i]]`, without its line end.
    offsets : int64[n]; where record i starts in its part (for a file: in decompressed bytes).
    nexts : int64[n]; where reading resumes after record i.
    part : the part's name: a path, `-`, `topic/3`.
    header : the part's first line, if the format has a header (CSV).
    errors : record -> an error that the source has found already (too long, cut off).
    tombstones : numbers of the records that only mark something as deleted; neither events nor dead letters.
    lost : how many records before the first one existed once, and can't be read any more.
    mended : the error of a dead letter of an earlier run that no longer counts: its record is read again, from here on.
    are_messages : whether each record is a whole message: NULs before it are no hole of a file.
    anew : the part begins anew here: offsets of before, larger ones too, were those of other records.
    """

    data: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    offsets: NDArray[np.int64]
    nexts: NDArray[np.int64]
    part: str
    header: bytes | None = None
    errors: Mapping[int, str] = field(default_factory=dict)
    tombstones: Collection[int] = ()
    lost: int = 0
    mended: str | None = None
    anew: bool = False
    are_messages: bool = False

    def __len__(self) -> int:
        return self.starts.size

    def __getitem__(self, i: int) -> bytes:
        return self.data[self.starts[i] : self.ends[i]]

    @property
    def key(self) -> str:
        """What a checkpoint calls the part; unlike the name it does not depend on the working folder."""
        return self.part

    def name(self, i: int) -> str:
        """Record i's position for people, `part:offset`; bytes of a file name that are not UTF-8 become `\\xff`."""
        return f"{spelled(self.part)}:{self.offsets[i]}"

    def position(self, count: int) -> Position:
        """Where reading of `part` resumes after its first `count` >= 1 records."""
        return {"offset": int(self.nexts[count - 1])}

    def envelope(self, name: str, kept: NDArray[np.int64]) -> list[Any] | None:
        """The source's own column for the records `kept`, by name (a message's `key`); None if it has none."""
        return None

    def default_ids(self, kept: NDArray[np.int64]) -> list[str] | None:
        """Ids for events without an id, if the source has permanent names for its records; None if it has not."""
        return None


def behind_marks(data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """`starts` moved behind the NULs and byte order marks that records begin with, and the number of these NULs."""
    buffer = np.frombuffer(data, np.uint8)
    if not buffer.size:
        return starts, 0
    first = buffer[np.minimum(starts, len(data) - 1)]
    marked = (first == 0) | (first == BOM[0])
    if not marked.any():
        return starts, 0
    starts, nuls = starts.copy(), 0
    for i in np.flatnonzero(marked).tolist():
        record = data[starts[i] : ends[i]]
        length = len(record) - len(_without_marks(record))
        starts[i] += length
        nuls += record.count(_NUL, 0, length)
    return starts, nuls


def _without_marks(record: bytes) -> bytes:
    while record.startswith((_NUL, BOM)):
        record = record.lstrip(_NUL).removeprefix(BOM)
    return record


def single_records(payloads: Sequence[bytes], part: str = "-") -> Records:
    """Records with the given payloads; their offsets are those of lines joined by a line feed."""
    lengths = np.fromiter(map(len, payloads), np.int64, len(payloads))
    nexts = np.cumsum(lengths + 1)
    starts = nexts - lengths - 1
    return Records(b"\n".join(payloads), starts, starts + lengths, starts, nexts, part, are_messages=True)


@dataclass
class Batch:
    """Consecutive events as columns; n of them.

    ids, labels : None for a missing one, never `""`.
    texts : the texts; if events have several text fields, the pieces of the texts. Like ids, perhaps not as a list.
    pieces : int64[n + 1], event i has `texts[pieces[i]:pieces[i + 1]]`; None if each event has one text.
    weights : float64[n], 0 to `MAX_WEIGHT`.
    times : float64[n] Unix seconds, NaN for a missing time.
    extra : the configured further fields, each a column of texts (None for a missing one).
    records, kept : the records, and int64[n], the record of each event.
    label_only : bool[n], events that are only the label of an earlier text, by its id; None if no event is. The label
        of a sentence is all of its tags, see `streamlin.formats.tokens.label_of`; other sentences have none.
    values : float32[len(texts)], with `pieces`: each piece's features have this value for 1; None if all are 1.
    tokens : for taggers, what sentences have besides their tokens, which are the pieces of their texts.
    templates : of log lines, once `Drain` has found them.
    """

    ids: Sequence[str | None]
    texts: Sequence[str]
    labels: list[str | None]
    weights: NDArray[np.float64]
    times: NDArray[np.float64]
    extra: dict[str, list[str | None]]
    records: Records
    kept: NDArray[np.int64]
    pieces: NDArray[np.int64] | None = None
    label_only: NDArray[np.bool_] | None = None
    values: NDArray[np.float32] | None = None
    tokens: "TokenColumns | None" = None
    templates: "Templates | None" = None

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, part: slice) -> "Batch":
        """The events of a slice with step 1; records are shared, not copied."""
        begin, end, _ = part.indices(len(self))
        texts, pieces, values, tokens = self.texts[begin:end], None, None, None
        if self.pieces is not None:
            pieces = self.pieces[begin : end + 1]
            tokens = None if self.tokens is None else self.tokens[pieces[0] : pieces[-1]]
            texts, values = self.texts[pieces[0] : pieces[-1]], self.values
            values = None if values is None else values[pieces[0] : pieces[-1]]
            pieces = pieces - pieces[0]
        return Batch(
            self.ids[begin:end],
            texts,
            self.labels[begin:end],
            self.weights[begin:end],
            self.times[begin:end],
            {name: column[begin:end] for name, column in self.extra.items()},
            self.records,
            self.kept[begin:end],
            pieces,
            None if self.label_only is None else self.label_only[begin:end],
            values,
            tokens,
        )

    @property
    def n_texts(self) -> int:
        """Number of events with a text."""
        return len(self) if self.label_only is None else len(self) - int(self.label_only.sum())

    def take(self, events: NDArray[np.int64]) -> "Batch":
        """Some of the events, all of which have a text; without their texts, for prediction lines."""
        chosen, ids, pieces, tokens = events.tolist(), list(self.ids), None, None
        if self.tokens is not None and self.pieces is not None:
            pieces, places = taken(self.pieces, events)
            tokens = self.tokens.take(places)
        return Batch(
            [ids[i] for i in chosen],
            [],
            [self.labels[i] for i in chosen],
            self.weights[events],
            self.times[events],
            {name: [column[i] for i in chosen] for name, column in self.extra.items()},
            self.records,
            self.kept[events],
            pieces,
            tokens=tokens,
            templates=None if self.templates is None else self.templates.take(events),
        )

    def keys(self) -> Sequence[str]:
        """The id of each event; its position, `part:offset`, if it has no id."""
        ids: Sequence[Any] = self.ids
        if None not in ids:
            return ids
        return [self.records.name(self.kept[i]) if key is None else key for i, key in enumerate(ids)]

    def whole_texts(self) -> list[str]:
        """The text of each event, with its pieces joined by line feeds."""
        if self.pieces is None:
            return list(self.texts)
        bounds = self.pieces.tolist()
        return ["\n".join(self.texts[begin:end]) for begin, end in pairwise(bounds)]

    def place(self, event: int) -> str:
        """The name of an event's place in its source."""
        return self.records.name(int(self.kept[event]))

    def events(self) -> list[Event]:
        """The batch as single events, for people and tests."""
        texts = self.whole_texts()
        return [
            Event(
                text=texts[i],
                label=self.labels[i],
                id=self.ids[i],
                weight=float(self.weights[i]),
                time=None if np.isnan(self.times[i]) else float(self.times[i]),
                extra={name: column[i] for name, column in self.extra.items()},
            )
            for i in range(len(self))
        ]


class Distinct(NamedTuple):
    """A column of m texts as its distinct values.

    values : in order of first appearance, without None. codes : int32[m], the index of each value; -1 for None.
    """

    values: list[str]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, column: Sequence[str | None]) -> Self:
        """The distinct values of a column."""
        values = [value for value in dict.fromkeys(column) if value is not None]
        index: dict[str | None, int] = {value: code for code, value in enumerate(values)}
        index[None] = -1
        return cls(values, np.fromiter(map(index.__getitem__, column), np.int32, len(column)))

    def only(self, kept: NDArray[np.bool_]) -> "Distinct":
        """The column with None where `kept`, bool[m], is False."""
        codes = np.where(kept, self.codes, np.int32(-1))
        _, first = np.unique(codes, return_index=True)
        order = [code for code in codes[np.sort(first)].tolist() if code >= 0]
        renumbered = np.full(len(self.values) + 1, -1, np.int32)
        renumbered[order] = np.arange(len(order))
        return Distinct([self.values[code] for code in order], renumbered[codes])

    def coded(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """int32[m]: the column, where value i has `codes[i]`; -1 for None."""
        return np.append(codes, np.int32(-1))[self.codes]


class CodedTexts(Sequence[str | None]):
    """A column of texts as its distinct values; part of it is a list."""

    def __init__(self, distinct: Distinct) -> None:
        self.distinct = distinct

    def __len__(self) -> int:
        return self.distinct.codes.size

    @overload
    def __getitem__(self, index: SupportsIndex) -> str | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[str | None]: ...
    def __getitem__(self, index: Any) -> Any:
        values, codes = [*self.distinct.values, None], self.distinct.codes[index]
        return [values[code] for code in codes.tolist()] if isinstance(index, slice) else values[codes]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self[:] == [*other]

    __hash__ = None  # type: ignore[assignment]  # equal to a list of the same texts

    def __iter__(self) -> Iterator[str | None]:
        return iter(self[:])

    def __repr__(self) -> str:
        return repr(self[:])


class Templates(NamedTuple):
    """The templates of n log lines.

    numbers : int32[n], from 1 on; 0 for a line without one.
    texts : each as its line has left it, that of the line itself if it has none; None for an event with a name of its
        own for its template, or without a text.
    new : bool[n], whether no line before had it.
    """

    numbers: NDArray[np.int32]
    texts: list[str | None]
    new: NDArray[np.bool_]

    def take(self, events: NDArray[np.int64]) -> "Templates":
        """Those of some of the events."""
        return Templates(self.numbers[events], [self.texts[i] for i in events.tolist()], self.new[events])

    def columns(self) -> dict[str, list[Any]]:
        """By name, as a data frame holds them; None where there is none."""
        numbers = [number or None for number in self.numbers.tolist()]
        new = [None if text is None else one for text, one in zip(self.texts, self.new.tolist(), strict=True)]
        return {"template": list(self.texts), "template_number": numbers, "new_template": new}

    def to_json(self) -> list[dict[str, Any] | None]:
        """As prediction lines have them; None where there is none."""
        return [
            None if text is None else {"number": number or None, "text": text, "new": new}
            for number, text, new in zip(self.numbers.tolist(), self.texts, self.new.tolist(), strict=True)
        ]


@dataclass
class TokenColumns:
    """Columns over all m tokens of a batch of sentences.

    tags : None for an unknown one. Perhaps not as a list.
    columns : further columns that are features, by name; `""` for a missing value.
    offsets : int64[m, 2], where each token begins and ends in its event's text, in characters; None: the events
        have tokens instead of texts.
    """

    tags: Sequence[str | None]
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    offsets: NDArray[np.int64] | None = None

    @cached_property
    def distinct_tags(self) -> Distinct:
        """The tags, once each; the thread that reads computes it."""
        return self.tags.distinct if isinstance(self.tags, CodedTexts) else Distinct.of(self.tags)

    def __getitem__(self, part: slice) -> "TokenColumns":
        """Those of some tokens that follow each other."""
        columns = {name: column[part] for name, column in self.columns.items()}
        return TokenColumns(self.tags[part], columns, None if self.offsets is None else self.offsets[part])

    def take(self, places: NDArray[np.int64]) -> "TokenColumns":
        """Those of some tokens, without columns that are features."""
        tags = list(self.tags)
        return TokenColumns(
            [tags[place] for place in places.tolist()], {}, None if self.offsets is None else self.offsets[places]
        )


def taken(bounds: NDArray[np.int64], chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bounds of the chosen ones of some ranges, one after the other, and the places that these consist of.

    bounds : int64[n + 1]; range i is `bounds[i]` to `bounds[i + 1]`. chosen : int64[k].
    Returns int64[k + 1] and int64[m].
    """
    lengths = np.diff(bounds)[chosen]
    own = np.zeros(chosen.size + 1, np.int64)
    np.cumsum(lengths, out=own[1:])
    return own, np.repeat(bounds[chosen] - own[:-1], lengths) + np.arange(own[-1])


class DeadLetter(NamedTuple):
    """A record that could not become an event. `record` is its number in its `Records`."""

    record: int
    error: str


class LabelIndex:
    """Labels and their codes, 0, 1, … in order of first appearance; grows during a run."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(names)
        self._codes: dict[str | None, int] = {name: code for code, name in enumerate(self.names)}
        self._codes[None] = -1

    def __len__(self) -> int:
        return len(self.names)

    def code(self, label: str | None) -> int:
        """The code of a label; -1 for None and for a label that has not been seen yet."""
        return self._codes.get(label, -1)

    def codes(self, labels: Sequence[str | None]) -> NDArray[np.int32]:
        """The codes int32[n] of labels; -1 for None and for labels that have not been seen yet."""
        get = self._codes.get
        return np.fromiter([get(label, -1) for label in labels], np.int32, len(labels))

    def unknown(self, labels: Iterable[str | None]) -> list[str]:
        """The labels that have no code yet, each once, in order."""
        return [label for label in dict.fromkeys(labels) if label is not None and label not in self._codes]

    def learn(self, labels: Sequence[str | None]) -> NDArray[np.int32]:
        """The codes int32[n] of labels, -1 for None; labels seen for the first time get the next codes."""
        try:
            return np.fromiter(map(self._codes.__getitem__, labels), np.int32, len(labels))
        except KeyError:
            for label in labels:
                if label not in self._codes:
                    self._codes[label] = len(self.names)
                    self.names.append(label)  # type: ignore[arg-type]  # None has a code from the start
            return self.codes(labels)

    def learn_one(self, label: str | None) -> int:
        """`learn` for one label."""
        code = self._codes.get(label)
        return code if code is not None else int(self.learn((label,))[0])


class Framing(Protocol):
    """How a stream of bytes is cut into records; the format knows, and sources of bytes call it.

    Optional attributes: `single`, the framing of a record that is too long to keep, if that is another one;
    `remark(data, starts, consumed)`, called with the bytes and what became of them, which returns a place in them and
    what is strange there, for the user; None for nothing.

    header : whether the first record of every part is a header instead of an event.
    """

    header: bool

    def __call__(self, data: bytes, final: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Cut `data`, which begins with a record, into records.

        Returns starts int64[n] and ends int64[n] of the complete records, without empty lines, and the number of bytes
        consumed: the rest is an incomplete record. With `final`, no more bytes follow and all are consumed.
        """


class Share(NamedTuple):
    """The parts of a source that are read here. own : their names. all : of all parts, which others read."""

    own: frozenset[str]
    all: frozenset[str]


@dataclass(frozen=True)
class SourceContext:
    """What the pipeline tells a source when it opens it.

    options : the URL's query, without the keys of the pipeline (format, rate, …).
    framing : how bytes are cut into records; sources of whole messages ignore it.
    positions : key of a part -> position from a checkpoint; empty on a fresh start.
    follow : keep reading at the end, as `tail -F` does.
    max_record_bytes : a longer record is handed over cut to 64 KiB, with an error.
    notice : shows the user one line.
    settings : the configuration's table for the scheme, `[kafka]` for `kafka://`; empty for other schemes.
    elsewhere : keys and positions of the parts of other sources of the scheme, for a source that can recognize its own
        records there, such as a file that was moved.
    share : the parts to read, for a source with `parts`; None: all.
    dealt : among how many shards records are dealt; a source that reads blocks of bytes makes them larger by this.
    checkpoint : for a source that has to give up a part. Called from `poll`; returns the positions by key of a part,
        once everything handed over has been learned, saved in a checkpoint, and committed to the source.
    """

    options: Mapping[str, str]
    framing: Framing
    positions: Mapping[str, Position]
    follow: bool
    max_record_bytes: int
    notice: Callable[[str], None]
    settings: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: Callable[[], Mapping[str, Position]] = dict
    elsewhere: Sequence[tuple[str, Position]] = ()
    share: Share | None = None
    dealt: int = 1


class Source(Protocol):
    """Where records come from. It is made and closed on one thread and polled on another, never at the same time.

    Constructed as `cls(address, context)`: the part of the URL after `scheme://`, and a `SourceContext`. Raises
    ConfigError for an unknown option, and ConnectorError if the source can't be read.

    Optional attributes: `shared`, whether other processes may be assigned its parts and resume from what was committed;
    `progress()`, the bytes read and their total; `extent()`, key of a part -> offsets, where reading began and one past
    the last record, which gives the lag; `reference_field`, see `connectors.synthetic.source`; `key(address)`, a static
    method, what a checkpoint calls the source if that is not the address; `reads(address, paths)`, a static method,
    those of the paths that the source reads, or would read once they exist: no output may go there; `files(address)`, a
    static method of `file://`, the files that are read; `parts(address, context)`, a class method, the names of the
    parts, in order, of a source that can read a share of them.
    """

    def poll(self, limit: int) -> list[Records] | None:
        """Up to `limit` records; [] if there are none yet, None at the end for good. Waits at most 100 ms."""

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Everything before `positions` is in checkpoint `number` (0 without checkpoints); the source may forget it."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class SinkContext:
    """What the pipeline tells a sink when it opens it.

    options : the URL's query.
    length : the length in the checkpoint, to which the sink is cut; None on a fresh start.
    settings, notice : see `SourceContext`.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    notice: Callable[[str], None] = print


class Sink(Protocol):
    """Where lines go. Constructed as `cls(address, context)`: the part after `scheme://`, and a `SinkContext`."""

    def write(self, lines: bytes | memoryview) -> None:
        """Append whole lines."""

    def flush(self) -> None:
        """Make everything written visible to readers."""

    def sync(self) -> int | None:
        """Make everything written durable; returns the length for `SinkContext.length`, or None."""

    def close(self) -> None: ...


class MessageSink(Sink, Protocol):
    """A sink of messages with keys and headers instead of lines; `write` is never called.

    commits : whether `sync_with` commits the positions for the source.
    """

    commits: bool

    def write_messages(self, lines: memoryview, bounds: NDArray[np.int64], keys: Sequence[str]) -> None:
        """Send n lines, each with its key; line i is `lines[bounds[i]:bounds[i + 1]]`, including its line feed."""

    def write_dead_letter(self, error: str, records: Records, number: int) -> None:
        """Send record `number` unchanged."""

    def sync_with(self, positions: Mapping[str, Position]) -> None:
        """`sync`; commits the source's positions in the same transaction, if the sink can."""

    def written(self) -> MutableMapping[str, int]:
        """Key of a part -> offset; the lines of all records before it were sent for good before this start.

        A part that begins anew, see `Records`, is removed from this mapping.
        """
