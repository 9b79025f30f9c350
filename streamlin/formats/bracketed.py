"""Trees in brackets, one a line."""

import numpy as np

from streamlin.errors import RecordError
from streamlin.events import Batch, Event, Records
from streamlin.formats.base import LineFormat, Row
from streamlin.formats.trees import columns_of_trees, read_tree
from streamlin.formats.utf8 import Indices, spans, texts_of


class BracketedFormat(LineFormat):
    """One tree a line, whose words are the event's text; see `streamlin.formats.trees`. There is no other field."""

    name = "bracketed"
    no_label_hint = "expected a tree in each line"

    def read(self, line: str) -> Row:
        """The words, each on a line, and the tree."""
        tree = read_tree(line)
        (label,), _ = columns_of_trees([tree], [tree.words], self.lengths)
        return "\n".join(tree.words), label, None, 1.0

    def write(self, event: Event) -> str:
        """The tree."""
        if event.label is None:
            raise RecordError("bracketed holds trees, expected an event with one as its label")
        return event.label

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`."""
        trees = [read_tree(line) for line in texts_of(records.data, *spans(records, kept))]
        labels, (texts, bounds, beside) = columns_of_trees(trees, [tree.words for tree in trees], self.lengths)
        n = len(trees)
        return Batch(
            ids=[None] * n,
            texts=texts,
            labels=labels,
            weights=np.ones(n),
            times=np.full(n, np.nan),
            extra={name: [None] * n for name in self._extra},
            records=records,
            kept=kept,
            pieces=bounds,
            tokens=beside,
        )
