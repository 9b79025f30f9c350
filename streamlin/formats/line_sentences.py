"""Sentences of formats that have no tags, such as raw logs: each text is cut into tokens, which are predicted only."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np

from streamlin.config import FieldsConfig
from streamlin.events import Batch, Records
from streamlin.formats.base import Format
from streamlin.formats.regex import RegexFormat
from streamlin.formats.text import TextFormat
from streamlin.formats.tokens import TAGS_ALONE, Cut, sentences
from streamlin.formats.utf8 import Indices


class _CutLines(Format):
    """cut : cuts each text into tokens. What such a format takes for a label is not a tag, and left out."""

    alone = TAGS_ALONE

    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str], cut: Cut) -> None:
        super().__init__(options, fields, extra)  # type: ignore[safe-super]  # that of the format beside it
        self._cut_text, self._columns = cut, fields.columns

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`."""
        batch = super().batch(records, kept)  # type: ignore[safe-super]  # likewise
        cuts = [self._cut_text(text) for text in _whole(batch)]
        offsets = np.array(list(chain.from_iterable(places for _, places in cuts)), np.int64).reshape(-1, 2)
        unknown: list[None] = [None] * len(batch)
        tokens, bounds, beside = sentences(
            [found for found, _ in cuts], unknown, dict.fromkeys(self._columns, unknown), offsets
        )
        return replace(batch, texts=tokens, labels=[None] * len(batch), pieces=bounds, tokens=beside)


class TextSentences(_CutLines, TextFormat):
    """A line is a sentence."""

    no_label_hint = "format text has no tags"


class RegexSentences(_CutLines, RegexFormat):
    """The text of a line that matches a pattern is a sentence."""

    no_label_hint = "format regex has no tags"


def _whole(batch: Batch) -> list[str]:
    """The text of each event; several text fields are joined by line feeds."""
    if batch.pieces is None:
        return list(batch.texts)
    return ["\n".join(batch.texts[begin:end]) for begin, end in pairwise(batch.pieces.tolist())]
