"""JSON lines of sentences: one object per line, with a list of tokens, or a text, and a list of tags."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from streamlin.config import FieldsConfig
from streamlin.errors import RecordError
from streamlin.events import Batch, Event, Records
from streamlin.formats.base import without_text
from streamlin.formats.flat_sentences import FlatSentences
from streamlin.formats.json import JsonFormat, further_texts
from streamlin.formats.json_fields import JsonFields
from streamlin.formats.tokens import Cut, Tokenized, known_tags, label_of, sentences
from streamlin.formats.utf8 import Indices
from streamlin.formats.values import checked_weights, names, unix_times


class JsonSentences(JsonFormat):
    """`{"id": …, "tokens": [...], "tags": [...]}`; `tags` may be missing, and so may each of them (null).

    With delayed labels, an object without tokens and text has the tags of the sentence with its id.

    cut : cuts a text where an object has one instead of tokens; predictions then name the places of its tokens.
    """

    no_label_hint = "set fields.tags to their field"
    neither = "expected tokens or a text, or tags with an id; found neither"

    def __init__(
        self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str], cut: Cut, of_trees: bool = False
    ) -> None:
        super().__init__(options, fields, extra)
        self._cut_text = cut
        self._json = JsonFields(fields, extra, has_tokens=True, has_trees=of_trees)
        self._decoder = msgspec.json.Decoder(self._json.type)
        self._flat_sentences = FlatSentences(fields) if FlatSentences.suits(fields, extra) and not of_trees else None
        self._missing = f"{fields.tokens} and {fields.text[0]} are missing, expected one of the two"
        self.errors_without_text = self.errors_without_text | {self._missing, self.neither}

    def take_delayed_labels(self) -> None:
        """See `Format`."""
        self.delayed_labels, self._flat_sentences = True, None

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`."""
        if self._flat_sentences is not None and (batch := self._flat_sentences.batch(records, kept)) is not None:
            return batch
        rows, fields = self._rows(records, kept), self._fields
        column = partial(self._json.column, rows)
        labels, label_only, (texts, bounds, beside) = self._read(rows)
        return Batch(
            ids=names(column(fields.id)),
            texts=texts,
            labels=labels,
            weights=checked_weights(column(fields.weight)),
            times=unix_times(column(fields.time), self.per_second),
            extra={path: further_texts(column(path)) for path in self._extra},
            records=records,
            kept=kept,
            pieces=bounds,
            label_only=label_only,
            tokens=beside,
        )

    def _read(self, rows: list[Any]) -> tuple[list[str | None], NDArray[np.bool_] | None, Tokenized]:
        """The label of each object, if it has one, which objects are only that, and their columns of tokens."""
        fields, column = self._fields, partial(self._json.column, rows)
        lists = {path: column(path) for path in (fields.tokens, fields.tags, *fields.columns)}
        parts = [column(path) for path in fields.text]
        label_only = without_text([lists[fields.tokens], *parts]) if self.delayed_labels else None
        labels: list[str | None] = [None] * len(rows)
        if label_only is not None:
            self._take_labels(lists, label_only, labels)
        tokens, offsets = self._cut(lists[fields.tokens], parts)
        columns = {name: lists[name] for name in fields.columns}
        return labels, label_only, sentences(tokens, lists[fields.tags], columns, offsets)

    def encode_sentence(
        self,
        event: Event,
        tokens: Sequence[str] | None,
        tags: Sequence[str | None] | None,
        columns: Mapping[str, Sequence[str | None]],
        text: str | None,
    ) -> bytes:
        """The object of a sentence: of its tokens, of a text, or of its tags alone.

        event : its id, weight, time and further fields.
        """
        fields = self._fields
        given = {} if text is None else self._texts(text)
        return self._encoded(event, {**given, fields.tokens: tokens, fields.tags: tags, **columns})

    def _take_labels(
        self, lists: Mapping[str, list[Any]], label_only: NDArray[np.bool_], labels: list[str | None]
    ) -> None:
        """Set the labels of events that are only tags, which are left without tokens and tags."""
        fields = self._fields
        for event in np.flatnonzero(label_only).tolist():
            tags = lists[fields.tags][event]
            labels[event] = None if tags is None else label_of(known_tags(tags))
            for values in lists.values():
                values[event] = None
            lists[fields.tokens][event] = []

    def _cut(
        self, tokens: list[list[str] | None], texts: list[list[str | None]]
    ) -> tuple[list[list[str]], np.ndarray[Any, np.dtype[np.int64]] | None]:
        """Each event's tokens; and where they are in its text, if any event has a text instead of tokens."""
        if None not in tokens:
            return tokens, None  # type: ignore[return-value]  # checked above
        found, spans = [], list[tuple[int, int]]()
        for given, *parts in zip(tokens, *texts, strict=True):
            whole = [part for part in parts if part is not None]
            if given is None and not whole:
                raise RecordError(self._missing)
            own, places = (given, [(-1, -1)] * len(given)) if given is not None else self._cut_text("\n".join(whole))
            found.append(own)
            spans += places
        return found, np.array(spans, np.int64).reshape(-1, 2)
