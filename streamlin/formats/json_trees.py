"""JSON lines of trees: one object per line, with a tree in brackets, a list of tokens, or a text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import FieldsConfig
from streamlin.formats.json_sentences import JsonSentences
from streamlin.formats.tokens import Cut, Tokenized
from streamlin.formats.trees import check_words, columns_of_trees, read_tree


class JsonTrees(JsonSentences):
    """`{"id": …, "tree": "(S …)"}`; without a tree, which may be null, `tokens` or a text to be cut into tokens.

    Tokens beside a tree must be as many as its words, which are read in their place.
    """

    no_label_hint = "set fields.tree to their field"

    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str], cut: Cut) -> None:
        super().__init__(options, fields, extra, cut, of_trees=True)
        self._missing = f"{fields.tree}, {fields.tokens} and {fields.text[0]} are missing, expected one of them"
        self.errors_without_text = self.errors_without_text | {self._missing}

    def _read(self, rows: list[Any]) -> tuple[list[str | None], NDArray[np.bool_] | None, Tokenized]:
        """See `JsonSentences`."""
        fields, column = self._fields, self._json.column
        trees = [read_tree(text) if text else None for text in column(rows, fields.tree)]
        given: list[list[str] | None] = column(rows, fields.tokens)
        for tree, tokens in zip(trees, given, strict=True):
            if tree is not None and tokens is not None:
                check_words(tokens, tree)
        words = [tokens if tree is None else tree.words for tree, tokens in zip(trees, given, strict=True)]
        found, offsets = self._cut(words, [column(rows, path) for path in fields.text])
        labels, tokenized = columns_of_trees(trees, found, self.lengths, offsets)
        return labels, None, tokenized
