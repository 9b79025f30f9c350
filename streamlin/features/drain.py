"""Templates of log lines, without labels: what lines have in common, and where they vary.

He, Zhu, Zheng, Lyu, "Drain: an online log parsing approach with fixed depth tree", ICWS 2017, 33-40; with a tree of two
levels, and tokens that contain digits variable from the start.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config.drain import TEMPLATE, DrainConfig
from streamlin.errors import CheckpointError
from streamlin.events import Batch, Templates
from streamlin.features.drain_kernels import (
    KNOWN,
    MOST_BYTES,
    MOST_TOKENS,
    NEW,
    NONE,
    SKIPPED,
    WIDENED,
    Tables,
    fill_tables,
    match_lines,
)
from streamlin.kernel.byte_buffers import encode_texts
from streamlin.storage.arrays import Expected, expected

VARIABLE = "<*>"
_VARIABLE = VARIABLE.encode()
_DIGITS = frozenset(b"0123456789")


class Drain:
    """Gives each line the number of a template, and each template a text in which `<*>` stands for what varies.

    A line is cut at white space; a token with a digit varies. Among the templates of as many tokens and the same first
    token, a line has the one that equals it in most tokens, if these are at least `similarity` of them; where the two
    differ, the template varies from then on. Any other line brings a template. Of a line the first 100 tokens are read.

    texts : of the templates, in order of first sight. counts : int64[t], the lines that each had.
    firsts : int64[t], the number of the line that brought each, from 0.
    lines, beyond : how many lines were read, and how many of these have no template, because there are too many.
    """

    def __init__(self, config: DrainConfig) -> None:
        self._config = config
        self.texts: list[str] = []
        self._counts, self._firsts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.lines = self.beyond = 0
        self._build(1, 0)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def is_full(self) -> bool:
        """Whether a line had no template because there are too many."""
        return self.beyond > 0

    @property
    def counts(self) -> NDArray[np.int64]:
        return self._counts[: len(self)]

    @property
    def firsts(self) -> NDArray[np.int64]:
        return self._firsts[: len(self)]

    def assign(self, batch: Batch, learn: bool = True) -> None:
        """Set the templates of a batch, and where its events have none of their own, their field `template`.

        learn : False: no template changes, and a line without one does not bring one. Events of weight 0 never do.
        """
        n = len(batch)
        own = batch.extra.get(TEMPLATE, [None] * n)
        read = np.array([name is None for name in own], np.bool_)
        if batch.label_only is not None:
            read &= ~batch.label_only
        learned = read & (batch.weights > 0) if learn else np.zeros(n, np.bool_)
        texts, pieces = self._messages(batch)
        found, what = np.empty(n, np.int32), np.empty(n, np.uint8)
        self._make_room(int(learned.sum()))
        match_lines(
            *encode_texts(texts),
            pieces,
            read,
            learned,
            self._config.similarity,
            self._config.max_templates,
            self._tables,
            len(self),
            found,
            what,
        )
        shown = self._texts_of(found, what, learned, lambda i: texts[pieces[i] : pieces[i + 1]])
        batch.templates = Templates(found + np.int32(1), shown, (what == NEW) | (what == NONE))
        batch.extra[TEMPLATE] = [
            name if number == 0 else f"#{number}"
            for name, number in zip(own, batch.templates.numbers.tolist(), strict=True)
        ]
        np.add.at(self._counts, found[learned & (found >= 0)], 1)
        self.lines += int(learned.sum())
        self.beyond += int((learned & (what == NONE)).sum())

    def name(self, value: str) -> str:
        """A value of the field `template` for people: with the template's text, if it is a number of ours."""
        digits = value[1:]
        known = value.startswith("#") and digits.isdecimal() and 0 < int(digits) <= len(self)
        return f"{value} {self.texts[int(digits) - 1]}" if known else value

    def new_since(self, line: int) -> int:
        """How many templates the lines from `line` on have brought."""
        return int(len(self) - np.searchsorted(self.firsts, line))

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint: octets uint8[m], the texts, which end at ends int64[t]; and the counts."""
        octets, lengths = encode_texts(self.texts)
        totals = np.array([self.lines, self.beyond], np.int64)
        ends = np.cumsum(lengths)
        arrays: dict[str, NDArray[Any]] = {"octets": octets[: int(lengths.sum())], "ends": ends}
        return arrays | {"counts": self.counts, "firsts": self.firsts, "lines": totals}

    def expected(self) -> dict[str, Expected]:
        """What the arrays of a `state` must be."""
        whole = {name: expected(np.int64, None) for name in ("ends", "counts", "firsts")}
        return {"octets": expected(np.uint8, None), "lines": expected(np.int64, 2)} | whole

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a `state`. Raises CheckpointError if its arrays do not fit together."""
        octets, ends, counts, firsts = (state[name] for name in ("octets", "ends", "counts", "firsts"))
        bounds = np.append(0, ends)
        ordered = bool((np.diff(bounds) >= 0).all() and (np.diff(firsts) > 0).all())
        few = ends.size <= self._config.max_templates and bool((firsts < state["lines"][0]).all())
        if not (ordered and few and ends.size == counts.size == firsts.size and bounds[-1] == octets.size):
            raise CheckpointError("the checkpoint's templates of log lines do not fit together")
        data = octets.tobytes()
        try:
            self.texts = [
                data[begin:end].decode("utf-8", "surrogatepass")
                for begin, end in zip(bounds[:-1].tolist(), ends.tolist(), strict=True)
            ]
        except UnicodeDecodeError:
            raise CheckpointError("the checkpoint's templates of log lines are not UTF-8") from None
        if any(len(text.split(" ")) > MOST_TOKENS for text in self.texts):
            raise CheckpointError(f"a template of the checkpoint has more than {MOST_TOKENS} tokens")
        self.lines, self.beyond = state["lines"].tolist()
        self._build(ends.size + 1, 2 * octets.size)
        self._counts[: ends.size], self._firsts[: ends.size] = counts, firsts

    def _messages(self, batch: Batch) -> tuple[list[str], NDArray[np.int64]]:
        """What is read of each event, as pieces of text, and the pieces' bounds."""
        bounds = np.arange(len(batch) + 1) if batch.pieces is None else batch.pieces
        column = batch.extra.get(self._config.field)
        if column is None or column.count(None) == len(column):
            return list(batch.texts), bounds
        texts = list[str]()
        ends = [0]
        for message, begin, end in zip(column, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            texts += batch.texts[begin:end] if message is None else [message]
            ends.append(len(texts))
        return texts, np.array(ends, np.int64)

    def _texts_of(
        self,
        found: NDArray[np.int32],
        what: NDArray[np.uint8],
        learned: NDArray[np.bool_],
        message: Callable[[int], list[str]],
    ) -> list[str | None]:
        """The text of each line's template, as the line has left it; that of the line itself, if it has none.

        found, what, learned : as of `match_lines`. message : the pieces of a line.
        """
        shown: list[str | None] = []
        begin, numbers, kinds = 0, found.tolist(), what.tolist()
        number_of_line = self.lines + np.cumsum(learned) - learned
        for i in np.flatnonzero((what != KNOWN) & (what != SKIPPED)).tolist():
            shown += self._known(numbers[begin:i])
            begin = i + 1
            text = masked(message(i))
            if kinds[i] == NEW:
                self._firsts[len(self)] = number_of_line[i]
                self.texts.append(text)
            elif kinds[i] == WIDENED:
                text = self.texts[numbers[i]] = widened(self.texts[numbers[i]], text)
            shown.append(text)
        return shown + self._known(numbers[begin:])

    def _known(self, numbers: list[int]) -> list[str | None]:
        return [self.texts[number] if number >= 0 else None for number in numbers]

    def _make_room(self, more: int) -> None:
        """Ensure room for so many more templates, as far as there may be more."""
        most = min(len(self) + more, self._config.max_templates)
        tables, used = self._tables, int(self._tables.bounds[len(self)])
        n_tokens = used + (most - len(self)) * MOST_TOKENS
        if tables.bounds.size <= most or tables.tokens.size < n_tokens:
            self._build(2 * most + 1, 2 * n_tokens)

    def _build(self, room: int, n_tokens: int) -> None:
        """Make tables of all templates, with room for so many templates and tokens."""
        self._counts, self._firsts = (np.resize(array, room) for array in (self._counts, self._firsts))
        self._counts[len(self) :] = 0
        self._tables = Tables(
            np.empty(n_tokens, np.uint64),
            np.zeros(room + 1, np.int64),
            np.empty(room, np.int32),
            np.full(1 << (2 * room).bit_length(), -1, np.int32),
        )
        octets, lengths = encode_texts(self.texts)
        fill_tables(octets, np.cumsum(lengths), self._tables)


def masked(pieces: list[str]) -> str:
    """The template of a line alone: its tokens, with `<*>` for those that vary, joined by blanks."""
    tokens = [token for piece in pieces for token in piece.encode("utf-8", "surrogatepass").split()][:MOST_TOKENS]
    shown = [_VARIABLE if len(token) > MOST_BYTES or not _DIGITS.isdisjoint(token) else token for token in tokens]
    return b" ".join(shown).decode("utf-8", "surrogatepass")


def widened(template: str, line: str) -> str:
    """A template that varies where a line of as many tokens differs from it."""
    pairs = zip(template.split(" "), line.split(" "), strict=True)
    return " ".join(own if own == other else VARIABLE for own, other in pairs)
