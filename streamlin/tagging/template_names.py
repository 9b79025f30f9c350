"""The features of tokens by name, such as `w-1=the`: the templates that `templates` hashes, as text.

A test hashes what the names are made of, and compares the buckets with those of the kernels.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from streamlin.tagging.templates import LEVELS, LOWER, PARTS, SHAPE, SUFFIX, WORD, character_classes

OUTSIDE = "<start>", "<end>"
"""Stand for a neighbour before the first and behind the last token."""
ABSENT = "<none>"
"""Stands for a prefix of more characters than the token has."""
_PART_NAMES = ("w", "lower", *(f"suf{n}" for n in range(1, 5)), *(f"pre{n}" for n in range(1, 5)), "shape")
_CLASS_NAMES = ("", "x", "X", "d")
"""Of the classes of `character_classes`; other characters stand for themselves."""


class Piece(NamedTuple):
    """A part of the token `offset` places further on. Parts from PARTS on are the values of columns."""

    part: int
    offset: int = 0


class Template(NamedTuple):
    """A feature of up to three pieces; without any, it is the bias. number : its first argument in `bucket`."""

    number: int
    pieces: tuple[Piece, ...] = ()


WORDS = (
    *(Template(part, (Piece(part),)) for part in range(PARTS)),
    *(Template(11 + k, (Piece(WORD, offset),)) for k, offset in enumerate((-1, 1, -2, 2))),
    Template(15, (Piece(WORD, -1), Piece(WORD))),
    Template(16, (Piece(WORD), Piece(WORD, 1))),
    Template(17, (Piece(SUFFIX + 2, -1),)),
    Template(18, (Piece(SUFFIX + 2, 1),)),
    Template(19, (Piece(SHAPE, -1), Piece(SHAPE))),
    Template(20, (Piece(SHAPE), Piece(SHAPE, 1))),
    Template(21),
)
"""Those of `word_buckets`, in its order."""
AROUND = (
    *(Template(32 + k, (Piece(WORD, k - 2),)) for k in range(5)),
    Template(37, (Piece(WORD, -1), Piece(WORD))),
    Template(38, (Piece(WORD), Piece(WORD, 1))),
    Template(39),
    *(Template(40 + k, (Piece(part),)) for k, part in enumerate((LOWER, SUFFIX + 1, SUFFIX + 2, SHAPE))),
)
"""Those of `around_buckets`."""
CONTEXTS = (
    Template(24, (Piece(SHAPE),)),
    *(Template(25 + n, (Piece(SHAPE), Piece(SUFFIX + n))) for n in range(LEVELS - 2)),
    Template(29, (Piece(WORD),)),
)
"""Those of `context_buckets`, without the columns that each of them includes."""


def column_templates(number: int) -> tuple[Template, ...]:
    """Those of `column_buckets`."""
    base, around = 64 + 16 * number, tuple(Piece(PARTS + number, k - 2) for k in range(5))
    groups = [around[k : k + size] for size in (1, 2, 3) for k in range(6 - size)]
    return tuple(Template(base + k, group) for k, group in enumerate(groups))


def token_templates(n_columns: int) -> tuple[Template, ...]:
    """Those of `TokenView.buckets`, for tokens with so many further columns."""
    if not n_columns:
        return WORDS
    return AROUND + tuple(template for number in range(n_columns) for template in column_templates(number))


def context_templates(n_columns: int) -> tuple[Template, ...]:
    """Those of `TokenView.contexts`, likewise."""
    columns = tuple(Piece(PARTS + number) for number in range(n_columns))
    return tuple(Template(number, pieces + columns) for number, pieces in CONTEXTS)


class SentenceNames:
    """The names of the features of a sentence's tokens.

    columns : the values of each further column by its name, in the order of `TokenView`.
    """

    def __init__(self, tokens: Sequence[str], columns: Mapping[str, Sequence[str]]) -> None:
        self._parts = (*_PART_NAMES, *columns)
        self._texts = [*zip(*map(part_texts, tokens), strict=True), *columns.values()] if tokens else []
        self._n = len(tokens)
        self._templates, self._contexts = token_templates(len(columns)), context_templates(len(columns))

    def features(self, t: int) -> list[str]:
        """Those of token t, in the order of `TokenBuckets.buckets`."""
        return [self._name(template, t) for template in self._templates]

    def contexts(self, t: int) -> list[str]:
        """Likewise, of `TokenBuckets.contexts`."""
        return [self._name(template, t) for template in self._contexts]

    def _name(self, template: Template, t: int) -> str:
        if not template.pieces:
            return "bias"
        titles = [self._parts[part] + (f"{offset:+d}" if offset else "") for part, offset in template.pieces]
        return f"{'|'.join(titles)}={'|'.join(self._value(piece, t) for piece in template.pieces)}"

    def _value(self, piece: Piece, t: int) -> str:
        place = t + piece.offset
        if not 0 <= place < self._n:
            return OUTSIDE[place > 0]
        value = self._texts[piece.part][place]
        return ABSENT if value is None else value


def part_texts(token: str) -> list[str | None]:
    """What `hash_parts` hashes of a token: texts, in its order; None for a prefix that it is too short for."""
    lowered = token.lower()
    suffixes = [lowered[-n:] for n in range(1, 5)]
    prefixes = [lowered[:n] if n <= len(lowered) else None for n in range(1, 5)]
    return [token, lowered, *suffixes, *prefixes, shape(token)]


def shape(token: str) -> str:
    """X, x and d for upper-case letters, other letters and digits, repeats once; other characters as they are."""
    classes = character_classes()
    kinds = (_CLASS_NAMES[classes[ord(character)]] or character for character in token)
    return "".join(kind for kind, _ in groupby(kinds))
