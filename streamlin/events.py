"""The words that everything else is written in: records, events, batches, labels.

A source hands over `Records`, a format makes a `Batch` of them, and both hold columns: no object stands for a single
event on the way through. `Event` is what a person or a test writes.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Position = dict[str, Any]
"""Where to read next in one part of a source; JSON-able. `offset` is always there."""


@dataclass(frozen=True)
class Event:
    """One decoded record.

    label : None where there is none.
    weight : how much it counts, >= 0.
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
    starts, ends : int64[n]; record i is `data[starts[i]:ends[i]]`, its line end left out.
    offsets : int64[n]; where record i starts in its part (a file: decompressed bytes).
    nexts : int64[n]; where its part goes on after record i.
    part : the part's name: a path, `-`, `topic/3`.
    header : the part's first line, where the format has one (CSV).
    errors : what is wrong with record i as the source already knows (too long, cut off).
    tombstones : numbers of the records that only say that something is gone; no events, and no mistakes either.
    lost : how many records before the first one were there once, and can't be had any more.
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

    def __len__(self) -> int:
        return self.starts.size

    def __getitem__(self, i: int) -> bytes:
        return self.data[self.starts[i] : self.ends[i]]

    @property
    def key(self) -> str:
        """What a checkpoint calls the part; unlike its name the same wherever the program is started."""
        return self.part

    def name(self, i: int) -> str:
        """Record i's position as people read it, `part:offset`; bytes of a file's name that are no UTF-8 as `\\xff`."""
        part = self.part.encode(errors="surrogateescape").decode(errors="backslashreplace")
        return f"{part}:{self.offsets[i]}"

    def position(self, count: int) -> Position:
        """Where `part` goes on once its first `count` >= 1 records are dealt with."""
        return {"offset": int(self.nexts[count - 1])}

    def envelope(self, name: str, kept: NDArray[np.int64]) -> list[Any] | None:
        """What the source itself says of the records `kept` under a name (a message's `key`); None: nothing."""
        return None

    def default_ids(self, kept: NDArray[np.int64]) -> list[str] | None:
        """Ids for events that bring none, where the source has names for records that last; None: it has not."""
        return None


def single_records(payloads: Sequence[bytes], part: str = "-") -> Records:
    """Records of given payloads; their offsets are those of lines joined by a line feed."""
    lengths = np.fromiter(map(len, payloads), np.int64, len(payloads))
    nexts = np.cumsum(lengths + 1)
    starts = nexts - lengths - 1
    return Records(b"\n".join(payloads), starts, starts + lengths, starts, nexts, part)


@dataclass
class Batch:
    """Consecutive events as columns; n of them.

    ids, labels : None where there is none; `""` never.
    texts : the texts, or their pieces where an event has several text fields.
    pieces : int64[n + 1], event i has `texts[pieces[i]:pieces[i + 1]]`; None where each event has one.
    weights : float64[n], finite, >= 0.
    times : float64[n] Unix seconds, NaN where there is none.
    extra : configured further fields, a column of texts (None where missing) each.
    records, kept : the records, and int64[n], which of them the events are.
    label_only : bool[n], events that bring only the label of an earlier text, by its id; None: no event does.
    """

    ids: list[str | None]
    texts: list[str]
    labels: list[str | None]
    weights: NDArray[np.float64]
    times: NDArray[np.float64]
    extra: dict[str, list[str | None]]
    records: Records
    kept: NDArray[np.int64]
    pieces: NDArray[np.int64] | None = None
    label_only: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, part: slice) -> "Batch":
        """The events of a slice of step 1; records are shared, not copied."""
        begin, end, _ = part.indices(len(self))
        texts, pieces = self.texts[begin:end], None
        if self.pieces is not None:
            pieces = self.pieces[begin : end + 1]
            texts, pieces = self.texts[pieces[0] : pieces[-1]], pieces - pieces[0]
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
        )

    @property
    def n_texts(self) -> int:
        """Events that are more than a label."""
        return len(self) if self.label_only is None else len(self) - int(self.label_only.sum())

    def take(self, events: NDArray[np.int64]) -> "Batch":
        """Some of the events, all with a text, for what is told of them: without texts."""
        chosen = events.tolist()
        return Batch(
            [self.ids[i] for i in chosen],
            [],
            [self.labels[i] for i in chosen],
            self.weights[events],
            self.times[events],
            {name: [column[i] for i in chosen] for name, column in self.extra.items()},
            self.records,
            self.kept[events],
        )

    def whole_texts(self) -> list[str]:
        """Each event's text, pieces joined by a line feed."""
        if self.pieces is None:
            return self.texts
        bounds = self.pieces.tolist()
        return ["\n".join(self.texts[begin:end]) for begin, end in pairwise(bounds)]

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


class DeadLetter(NamedTuple):
    """A record that could not become an event. `record` is its number within its `Records`."""

    record: int
    error: str


class LabelIndex:
    """Labels and their codes, 0, 1, … in order of first sight; grows while running."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(names)
        self._codes: dict[str | None, int] = {name: code for code, name in enumerate(self.names)}
        self._codes[None] = -1

    def __len__(self) -> int:
        return len(self.names)

    def code(self, label: str | None) -> int:
        """The code of a label, -1 if it is None or was not seen yet."""
        return self._codes.get(label, -1)

    def codes(self, labels: Sequence[str | None]) -> NDArray[np.int32]:
        """int32[n] codes; -1 for None and for labels that were not seen yet."""
        get = self._codes.get
        return np.fromiter([get(label, -1) for label in labels], np.int32, len(labels))

    def learn(self, labels: Sequence[str | None]) -> NDArray[np.int32]:
        """int32[n] codes, -1 for None; labels seen for the first time get the next codes."""
        try:
            return np.fromiter(map(self._codes.__getitem__, labels), np.int32, len(labels))
        except KeyError:
            for label in labels:
                if label not in self._codes:
                    self._codes[label] = len(self.names)
                    self.names.append(label)  # type: ignore[arg-type]  # None has a code from the start
            return self.codes(labels)

    def learn_one(self, label: str | None) -> int:
        """The same of one label."""
        code = self._codes.get(label)
        return code if code is not None else int(self.learn((label,))[0])


class Framing(Protocol):
    """How a stream of bytes falls into records; the source of bytes asks, the format knows.

    header : whether the first record of every part is a header, and no event.
    """

    header: bool

    def __call__(self, data: bytes, final: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Cut `data`, which begins with a record, into records.

        Returns starts int64[n] and ends int64[n] of the complete records, empty lines left out, and the number of
        bytes dealt with: the rest is an incomplete record. With `final` no more bytes follow and nothing is left.
        """


@dataclass(frozen=True)
class SourceContext:
    """What the pipeline tells a source when it opens it.

    options : the URL's query, the pipeline's own keys (format, rate, …) taken out.
    framing : how bytes fall into records; sources of whole messages pass it over.
    positions : key of a part -> position from a checkpoint; empty on a fresh start.
    follow : go on at the end, as `tail -F` does.
    max_record_bytes : a longer record is handed over cut to 64 KiB, with an error.
    notice : shows the user one line.
    settings : the configuration's table for the scheme, `[kafka]` for `kafka://`; empty where there is none.
    checkpoint : called from `poll`, returns once all that was handed over is learned, in a checkpoint, and committed to
        the source, with the positions by key of a part; for a source that must let go of a part.
    """

    options: Mapping[str, str]
    framing: Framing
    positions: Mapping[str, Position]
    follow: bool
    max_record_bytes: int
    notice: Callable[[str], None]
    settings: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: Callable[[], Mapping[str, Position]] = dict


class Source(Protocol):
    """Where records come from. It is made and closed on one thread, polled on another, never at the same time.

    Constructed as `cls(address, context)`: what stands behind `scheme://`, and a `SourceContext`. Raises ConfigError
    for an unknown option, ConnectorError where it can't be read.

    It may have more: `shared`, whether other processes may be given its parts and go on from what was committed;
    `progress()`, how many bytes of how many are read; `extent()`, key of a part -> offsets, where reading began and
    behind the last record there is, from which the lag is told; `reference_field`, see `connectors.synthetic.source`;
    `key(address)`, a static method, what a checkpoint calls the source where that is not the address.
    """

    def poll(self, limit: int) -> list[Records] | None:
        """Up to `limit` records; [] if there are none yet, None at the end for good. Waits 100 ms at most."""

    def commit(self, positions: Mapping[str, Position], number: int) -> None:
        """Everything before `positions` is in checkpoint `number` (0: there is none); the source may forget it."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class SinkContext:
    """What the pipeline tells a sink when it opens it.

    options : the URL's query.
    length : what a checkpoint holds of the sink, behind which all is cut off; None on a fresh start.
    settings, notice : as a source's.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    notice: Callable[[str], None] = print


class Sink(Protocol):
    """Where lines go. Constructed as `cls(address, context)`: what stands behind `scheme://`, and a `SinkContext`."""

    def write(self, lines: bytes | memoryview) -> None:
        """Append whole lines."""

    def flush(self) -> None:
        """Hand what was written to readers."""

    def sync(self) -> int | None:
        """Make what was written durable; the length to go back to, None where there is none."""

    def close(self) -> None: ...


class MessageSink(Sink, Protocol):
    """A sink of messages with keys and headers instead of lines; `write` is never called.

    commits : whether `sync_with` commits the positions for the source.
    """

    commits: bool

    def write_messages(self, lines: memoryview, bounds: NDArray[np.int64], keys: Sequence[str]) -> None:
        """Send n lines, line i being `lines[bounds[i]:bounds[i + 1]]` with its line feed, each under its key."""

    def write_dead_letter(self, error: str, records: Records, number: int) -> None:
        """Send record `number` as it came."""

    def sync_with(self, positions: Mapping[str, Position]) -> None:
        """`sync`, in one step with keeping where the source goes on behind it, if the sink can."""

    def written(self) -> Mapping[str, int]:
        """Key of a part -> offset before which every record's line was sent for good before this start."""


def arrays_under(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays of a checkpoint whose names start with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
