"""CoNLL's columns: a token a line, its columns separated by tabs or blanks, an empty line after each sentence.

Tjong Kim Sang, Buchholz, CoNLL 2000, 127-132; CoNLL-U: https://universaldependencies.org/format.html.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError, DecodeError, RecordError
from streamlin.events import Batch, Event, Records
from streamlin.formats.base import Format
from streamlin.formats.tokens import TAGS_ALONE, sentences
from streamlin.formats.utf8 import Indices, spans, texts_of

CONLL_U = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_LF, _CR = 0x0A, 0x0D
_ID = "# sent_id = "
_NUMBER = re.compile(r"\d+([-.]\d+)?")
"""A word, a range of words, or an empty node of CoNLL-U."""


class SentenceFraming:
    """Records are blocks of lines, separated by empty lines. See `streamlin.events.Framing`."""

    header = False

    def __call__(self, data: bytes, final: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """starts int64[n], ends int64[n], and the number of bytes consumed."""
        buffer = np.frombuffer(data, np.uint8)
        feeds = np.flatnonzero(buffer == _LF)
        starts = np.concatenate([np.zeros(min(1, len(data)), np.int64), feeds + 1])
        ends = np.append(feeds, len(data))[: starts.size]
        filled = starts < ends - (buffer[np.maximum(ends - 1, 0)] == _CR) if len(data) else np.zeros(0, np.bool_)
        if not final:  # the last line may go on
            starts, ends, filled = starts[:-1], ends[:-1], filled[:-1]
        begins = np.flatnonzero(filled & ~np.append(False, filled[:-1]))
        lasts = np.flatnonzero(filled & ~np.append(filled[1:], False))
        if not final and filled.size and filled[-1]:  # its sentence may go on
            consumed = int(starts[begins[-1]])
            begins, lasts = begins[:-1], lasts[:-1]
        else:
            consumed = len(data) if final else (int(ends[-1]) + 1 if ends.size else 0)
        return starts[begins], ends[lasts], consumed


class ConllFormat(Format):
    """Sentences as blocks of lines.

    The columns are named by the option `columns`, separated by commas; those of ten columns with tabs are CoNLL-U's,
    else the first is `fields.tokens` and the last `fields.tags`. Lines that begin with `#` before the first token are
    comments. Of CoNLL-U, ranges (`1-2`) and empty nodes (`1.1`) are passed over, `_` is an unknown tag, and
    `# sent_id` the sentence's id.
    """

    name = "conll"
    no_label_hint = "set fields.tags to their column"
    alone = TAGS_ALONE
    framing = SentenceFraming()

    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> None:
        self._fields, self._extra = fields, tuple(extra)
        self._columns = tuple(name.strip() for name in options["columns"].split(",")) if "columns" in options else ()
        if self._columns:
            for name in (fields.tokens, *fields.columns):
                if name not in self._columns:
                    raise ConfigError(f"format conll: columns has no '{name}'; it names {', '.join(self._columns)}")

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`."""
        blocks = [self._block(text) for text in texts_of(records.data, *spans(records, kept))]
        columns = {name: [block.columns[name] for block in blocks] for name in self._fields.columns}
        texts, bounds, beside = sentences([b.tokens for b in blocks], [b.tags for b in blocks], columns)
        return Batch(
            ids=[block.id for block in blocks],
            texts=texts,
            labels=[None] * len(blocks),
            weights=np.ones(len(blocks)),
            times=np.full(len(blocks), np.nan),
            extra={name: [None] * len(blocks) for name in self._extra},
            records=records,
            kept=kept,
            pieces=bounds,
            tokens=beside,
        )

    def encode(self, event: Event) -> bytes:
        """Always RecordError: an event is a text and its label, not a sentence."""
        raise RecordError("conll holds sentences of tokens, expected a text format")

    def _block(self, text: str) -> "_Block":
        """One sentence. Raises DecodeError."""
        lines, id_ = [line.removesuffix("\r") for line in text.rstrip("\r\n").split("\n")], None
        while lines and lines[0].startswith("#") and self._is_comment(lines[0], lines[-1], len(lines)):
            id_ = lines[0].removeprefix(_ID) if lines[0].startswith(_ID) else id_
            del lines[0]
        rows = list(map(_cells, lines))
        is_conll_u = not self._columns and bool(rows) and "\t" in lines[0] and len(rows[0]) == len(CONLL_U)
        if is_conll_u:
            rows = [row for row in rows if _is_word(row)]
        widths = set(map(len, rows))
        if len(widths) > 1:
            raise DecodeError(f"lines of {min(widths)} and of {max(widths)} columns in one sentence")
        width = widths.pop() if widths else 0
        return _Block(self._named(rows, width, is_conll_u), id_, self._fields, is_conll_u)

    def _is_comment(self, first: str, last: str, n_lines: int) -> bool:
        """Whether the first line, which begins with `#`, is no token: it has not the columns of the last one."""
        if self._columns:
            return len(_cells(first)) != len(self._columns)
        if n_lines == 1:
            return "\t" not in first
        return ("\t" in last) != ("\t" in first) or len(_cells(first)) != len(_cells(last))

    def _named(self, rows: list[list[str]], width: int, is_conll_u: bool) -> dict[str, list[str]]:
        """The columns by name."""
        fields = self._fields
        if self._columns:
            if rows and width != len(self._columns):
                raise DecodeError(f"{width} columns, expected {len(self._columns)}: {', '.join(self._columns)}")
            names = self._columns
        elif is_conll_u:
            names = CONLL_U
        else:
            names = (fields.tokens, *map(str, range(2, width)), *[fields.tags][: width - 1])
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _cells(line: str) -> list[str]:
    """The columns of a line."""
    return line.split("\t") if "\t" in line else line.split()


def _is_word(row: list[str]) -> bool:
    """Whether a line of CoNLL-U is a word, not a range or an empty node. Raises DecodeError."""
    if not _NUMBER.fullmatch(row[0]):
        raise DecodeError(f"the number of a token is {row[0]!r:.60}; if these are not CoNLL-U's columns, name columns=")
    return row[0].isdecimal()


class _Block:
    """The tokens, tags and further columns of a sentence."""

    def __init__(self, named: dict[str, list[str]], id_: str | None, fields: FieldsConfig, is_conll_u: bool) -> None:
        self.id = id_
        tokens, tags = (fields.tokens, fields.tags)
        if is_conll_u:
            tokens, tags = tokens if tokens in named else "form", tags if tags in named else "upos"
        self.tokens = named.get(tokens, [])
        own = named.get(tags)
        unknown = ("_", "") if is_conll_u else ("",)
        self.tags = None if own is None else [None if tag in unknown else tag for tag in own]
        for name in fields.columns:
            if name not in named and self.tokens:
                raise DecodeError(f"no column '{name}'; name the columns by the option columns=")
        self.columns: dict[str, list[str | None] | None] = {name: list(named.get(name, ())) for name in fields.columns}
