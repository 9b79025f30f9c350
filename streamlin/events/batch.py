"""Events as columns, which a format makes of records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.events.columns import Templates, TokenColumns, taken
from streamlin.events.records import Records

MAX_WEIGHT = 1e9
"""The largest weight of an event: sums of any number of them, and their products in the learners, stay finite."""


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
    tokens: TokenColumns | None = None
    templates: Templates | None = None

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


class DeadLetter(NamedTuple):
    """A record that could not become an event. `record` is its number in its `Records`."""

    record: int
    error: str
