"""The rows of a batch when labels may be delayed: each is predicted and learned in turn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.delayed_labels.waiting import WaitingText, piece_values
from streamlin.events import Batch, TokenColumns
from streamlin.formats.tokens import text_of, values_of

_NOT_IN_BATCH = -1


class Recalled(NamedTuple):
    """Rows that are scored as predicted when their text arrived.

    here, asked : int64[a], rows whose text arrived in this batch, and the rows in which it did.
    before : rows whose text arrived in an earlier batch, with the text.
    """

    here: NDArray[np.int64]
    asked: NDArray[np.int64]
    before: list[tuple[int, WaitingText]]


class Plan:
    """The rows of a batch, in stream order: texts that arrive, and texts that are learned when their wait has ended.

    The properties are read only once the whole batch is planned.

    rows : the rows as events; a text that waits for its label has none.
    sources : int64[R], the event that each row is: of the batch, or, from `len(batch)` on, of `old`.
    given, events : int64[g], the rows of texts that arrive, and which events of the batch they are.
    new : the texts that wait from now on, and the row of each.
    old : the texts from before this batch whose wait ends in it.
    askable : the texts that wait from now on, those of weight 0 aside; some may get their label within the batch.
    """

    def __init__(self, batch: Batch, names: Sequence[str]) -> None:
        self._batch = replace(batch, ids=list(batch.ids), texts=list(batch.texts))  # which are read one by one
        self._names = names
        self.old: list[WaitingText] = []
        self.new: list[tuple[WaitingText, int]] = []
        self.askable: list[WaitingText] = []
        self._sources: list[int] = []
        self._labels: list[str | None] = []
        self._weights: list[float] = []
        self._given: list[int] = []
        self._at: list[int] = []
        self._unlabelled: list[int] = []
        self._let_go: list[int] = []
        self._learned_rows: list[int] = []
        self._learned_texts: list[WaitingText] = []

    def arrive(self, event: int, label: str | None) -> None:
        """A text of the batch arrives: a row that is predicted, and learned if its label is given."""
        self._given.append(len(self._sources))
        self._row(event, event, label, float(self._batch.weights[event]))

    def waiting(self, event: int, number: int, time: float, label: str | None = None) -> WaitingText:
        """What is kept of the text that arrived last, which waits for its label."""
        batch = self._batch
        first, last = (event, event + 1) if batch.pieces is None else batch.pieces[event : event + 2].tolist()
        pieces = batch.texts[first:last]
        if batch.tokens is not None:
            pieces = [text_of(pieces), *(text_of(column[first:last]) for column in batch.tokens.columns.values())]
        kept = WaitingText(
            batch.ids[event],
            tuple(pieces),
            tuple(batch.extra[name][event] for name in self._names),
            float(batch.weights[event]),
            time,
            number,
            label,
            None if batch.values is None else tuple(batch.values[first:last].tolist()),
        )
        kept.row, kept.source = self._given[-1], event
        self.new.append((kept, kept.row))
        return kept

    def learn(self, event: int, text: WaitingText, label: str, weight: float = 1.0) -> None:
        """The label of a text has arrived, with an event of the batch: a row that is learned."""
        self._learned_rows.append(len(self._sources))
        self._learned_texts.append(text)
        self._row(event, self._source(text), label, text.weight * weight)

    def await_nothing(self) -> None:
        """No label can reach the text that arrived last: its row is learned without one."""
        self._unlabelled.append(self._given[-1])

    def let_go(self, event: int, text: WaitingText) -> None:
        """A text has left the wait without a label, with an event of the batch: a row that is learned without one."""
        self._unlabelled.append(len(self._sources))
        self._let_go.append(len(self._sources))
        self._row(event, self._source(text), None, text.weight)

    def learned(self) -> Iterable[tuple[int, WaitingText]]:
        """The rows of texts that are learned with a label that has arrived, in order, and these texts."""
        return zip(self._learned_rows, self._learned_texts, strict=True)

    @property
    def is_plain(self) -> bool:
        """Whether the rows are the batch's events and nothing else."""
        return not self._learned_rows and not self._let_go and len(self._sources) == len(self._batch)

    @property
    def unlabelled(self) -> NDArray[np.bool_]:
        """bool[R]: the rows that are learned without a label."""
        rows = np.zeros(len(self._sources), np.bool_)
        rows[self._unlabelled] = True
        return rows

    @cached_property
    def given(self) -> NDArray[np.int64]:
        return np.array(self._given, np.int64)

    @property
    def events(self) -> NDArray[np.int64]:
        return self.sources[self.given]

    @cached_property
    def sources(self) -> NDArray[np.int64]:
        return np.array(self._sources, np.int64)

    @property
    def first_weights(self) -> NDArray[np.float64]:
        """float64[R], 0 for rows of texts that were counted before and are now learned."""
        weights = np.array(self._weights)
        weights[self._learned_rows + self._let_go] = 0.0
        return weights

    @property
    def rows(self) -> Batch:
        """The rows as a batch, without ids, texts and times."""
        sources = self._sources
        extra: dict[str, list[str | None]] = {}
        for number, name in enumerate(self._names):
            column = [*self._batch.extra[name], *(text.extra[number] for text in self.old)]
            extra[name] = [column[source] for source in sources]
        return Batch(
            [None] * len(sources),
            [],
            self._labels,
            np.array(self._weights),
            np.empty(0),
            extra,
            self._batch.records,
            self._batch.kept[self._at],
        )

    def old_batch(self) -> Batch:
        """The old texts as a batch."""
        return old_texts(self.old, self._names, self._batch)

    def position(self, event: int) -> str:
        """The name of an event's place in its source."""
        return self._batch.place(event)

    def recalled(self) -> Recalled:
        """The rows of texts that are learned now, and where their predictions are."""
        rows = np.array(self._learned_rows, np.int64)
        asked = np.array([text.row for text in self._learned_texts], np.int64)
        before = [(row, text) for row, text in self.learned() if text.row < 0]
        return Recalled(rows[asked >= 0], asked[asked >= 0], before)

    def keep(self, kept: Callable[[int], tuple[NDArray[np.float64], NDArray[np.int32]]]) -> None:
        """Keep the predictions for the texts that still wait. kept : row -> its scores and codes, see `WaitingText`."""
        for text, row in self.new:
            text.scores, text.codes = kept(row)
            text.row = text.source = _NOT_IN_BATCH
        self.new.clear()

    def _source(self, text: WaitingText) -> int:
        """The event that a text is; see `sources`."""
        if text.source < 0:
            text.source = len(self._batch) + len(self.old)
            self.old.append(text)
        return text.source

    def _row(self, event: int, source: int, label: str | None, weight: float) -> None:
        self._at.append(event)
        self._sources.append(source)
        self._labels.append(label)
        self._weights.append(weight)


def old_texts(old: Sequence[WaitingText], names: Sequence[str], batch: Batch) -> Batch:
    """Texts from before a batch as a batch, which has the records of that one. names : of the further fields."""
    extra = {name: [text.extra[i] for text in old] for i, name in enumerate(names)}
    pieces: Sequence[Sequence[str]] = [text.texts for text in old]
    texts, tokens = chain.from_iterable(pieces), None
    if batch.tokens is not None:
        pieces, *columns = ([values_of(text.texts[i]) for text in old] for i in range(1 + len(batch.tokens.columns)))
        texts = chain.from_iterable(pieces)
        further = {name: list(chain(*lists)) for name, lists in zip(batch.tokens.columns, columns, strict=True)}
        tokens = TokenColumns([None] * sum(map(len, pieces)), further)
    return Batch(
        ids=[text.id for text in old],
        texts=list(texts),
        labels=[None] * len(old),
        weights=np.array([text.weight for text in old]),
        times=np.array([text.time for text in old]),
        extra=extra,
        records=batch.records,
        kept=np.zeros(len(old), np.int64),
        pieces=np.cumsum([0, *map(len, pieces)]),
        values=piece_values(old) if any(text.values is not None for text in old) else None,
        tokens=tokens,
    )


def text_of_row(texts: tuple[Batch, Batch], sources: NDArray[np.int64] | None, row: int) -> tuple[Batch, int]:
    """The batch that holds a row's text, and the index of the event in it.

    texts : a batch, and the old texts that are learned with it. sources : see `Plan`; None: row i is event i.
    """
    source = row if sources is None else int(sources[row])
    events = len(texts[0])
    return (texts[0], source) if source < events else (texts[1], source - events)


def gathered(features: Mapping[str, Any], old: Mapping[str, Any], sources: NDArray[np.int64]) -> dict[str, Any]:
    """The features of rows, from those of the batch and of old texts, by view; see `streamlin.features.Buckets`."""
    return {view: _gathered(features[view], old[view], sources) for view in features}


def _gathered(first: Any, second: Any, sources: NDArray[np.int64]) -> Any:
    indptr = np.concatenate([first.indptr, second.indptr[1:] + first.indptr[-1]])
    buckets, values = np.concatenate([first.buckets, second.buckets]), np.concatenate([first.values, second.values])
    return first._replace(indptr=indptr, buckets=buckets, values=values).take(sources)
