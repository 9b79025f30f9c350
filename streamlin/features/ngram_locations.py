"""The n-grams of one event and their locations in its text, which hashing does not keep.

One event is processed here as a batch is by the kernels: tokenized by `re`, then hashed by the kernels' murmur3, the
n-grams in the kernels' order.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import Tokens
from streamlin.features.characters import mark_class
from streamlin.features.form_features import form_features
from streamlin.features.forms import CHARACTERS, FIRST, HEAD
from streamlin.features.hashing import hash_ranges
from streamlin.features.masks import masked_with_origins
from streamlin.features.normalization import normalized_with_origins
from streamlin.features.view import View, first_line
from streamlin.kernel.byte_buffers import PADDING, encode_texts


@cache
def _token_pattern(tokens: Tokens) -> re.Pattern[str]:
    if tokens == "words":
        return re.compile(rf"\w[\w{mark_class()}]*")
    return re.compile(r"\w{2,}" if tokens == "scikit-learn" else r"\S+")


_WHOLE = 32
"""More units than a feature of a form has."""


class Ngrams(NamedTuple):
    """The N n-grams of an event, repeated ones included, over U units, which are tokens or characters.

    text : the normalized, lower-cased and masked text; n-gram i is `text[begins[i]:ends[i]]`.
    begins, ends : int64[N].
    hashes : int32[N], murmur3.
    first, size : int64[N]; n-gram i consists of `size[i]` units from `first[i]` on.
    spans : int64[U, 2], the bounds of each unit in the event's pieces, joined by a line feed. A span is empty where
        the unit is not part of the text: a blank around a token, a category.
    """

    text: str
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    hashes: NDArray[np.int32]
    first: NDArray[np.int64]
    size: NDArray[np.int64]
    spans: NDArray[np.int64]

    def ngram(self, i: int) -> str:
        """n-gram i as it is hashed."""
        return self.text[self.begins[i] : self.ends[i]]

    def locations(self, numbers: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Where some n-grams begin and end in the event's text."""
        first, last = self.first[numbers], self.first[numbers] + self.size[numbers] - 1
        return list(zip(self.spans[first, 0].tolist(), self.spans[last, 1].tolist(), strict=True))


class _Units(NamedTuple):
    """U units in order. An n-gram stays within one run: the tokens of a piece, or the characters of a token.

    text : unit j is `text[begins[j]:ends[j]]`; the text between two units of a run is part of their n-grams.
    left : int64[U], the number of units from unit j to the end of its run.
    least : int64[U], the number of units of the shortest n-gram that begins there.
    spans : as in `Ngrams`.
    """

    text: str
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    left: NDArray[np.int64]
    least: NDArray[np.int64]
    spans: NDArray[np.int64]


def ngrams(view: View, pieces: Sequence[str], categories: Mapping[str, str | None] | None = None) -> Ngrams:
    """The n-grams of an event, and the features of its categories.

    pieces : its texts. categories : value by field, None where it is missing.
    """
    units = _concatenated([*_of_pieces(view, pieces), *_of_categories(view, pieces, categories or {})])
    longest = view.config.ngrams[1] if view.form < FIRST else _WHOLE
    counts = np.maximum(0, np.minimum(longest, units.left) - units.least + 1)
    first = np.repeat(np.arange(counts.size), counts)
    size = units.least[first] + np.arange(first.size) - np.repeat(np.cumsum(counts) - counts, counts)
    begins, ends = units.begins[first], units.ends[first + size - 1]
    data, _ = encode_texts([units.text])
    offsets = _byte_offsets(data, len(units.text))
    hashes = hash_ranges(data, offsets[begins], offsets[ends])
    return Ngrams(units.text, begins, ends, hashes, first, size, units.spans)


def _of_pieces(view: View, pieces: Sequence[str]) -> list[_Units]:
    units, begin = [], 0
    for piece in pieces:
        text, origins = _normalized(view, piece)
        tokens = [match.span() for match in _token_pattern(view.config.tokens).finditer(text)]
        bounds = np.array(tokens, np.int64).reshape(-1, 2)
        cut_text = [text[i:j] for i, j in tokens]
        if view.form < FIRST:
            cut = _characters if view.form == CHARACTERS else _tokens
            units.append(cut(cut_text, bounds, origins + begin, view.config.ngrams[0]))
        elif tokens:
            units.append(_form(cut_text, bounds, origins + begin, view.form))
        begin += len(piece) + 1
    return units


def _tokens(tokens: list[str], bounds: NDArray[np.int64], origins: NDArray[np.int64], shortest: int) -> _Units:
    """Tokens as units; bounds int64[T, 2] in the normalized text, origins int64[n, 2] the spans of its characters."""
    lengths, n = bounds[:, 1] - bounds[:, 0], len(tokens)
    nexts = np.cumsum(lengths + 1)
    spans = np.stack([origins[bounds[:, 0], 0], origins[bounds[:, 1] - 1, 1]], axis=1)
    text = "".join(f"{token} " for token in tokens)
    return _Units(text, nexts - lengths - 1, nexts - 1, n - np.arange(n), np.full(n, shortest), spans)


def _characters(tokens: list[str], bounds: NDArray[np.int64], origins: NDArray[np.int64], shortest: int) -> _Units:
    """Characters as units, with a blank before and after each token; a shorter token is one n-gram as a whole."""
    sizes = bounds[:, 1] - bounds[:, 0] + 2
    units = np.arange(sizes.sum())
    run_ends, run_sizes = np.repeat(np.cumsum(sizes), sizes), np.repeat(sizes, sizes)
    at = units - run_ends + run_sizes - 1 + np.repeat(bounds[:, 0], sizes)
    is_first, is_last = units == run_ends - run_sizes, units == run_ends - 1
    spans = origins[at + is_first - is_last]
    spans[is_first, 1], spans[is_last, 0] = spans[is_first, 0], spans[is_last, 1]
    text = "".join(f" {token} " for token in tokens)
    return _Units(text, units, units + 1, run_ends - units, np.minimum(shortest, run_sizes), spans)


def _form(tokens: list[str], bounds: NDArray[np.int64], origins: NDArray[np.int64], form: int) -> _Units:
    """The features of a form; the units of each are its tokens in the text, or one that is not part of the text."""
    spans = np.stack([origins[bounds[:, 0], 0], origins[bounds[:, 1] - 1, 1]], axis=1)
    end = int(spans[-1, 1])
    texts, columns, located = [], [], []
    at = 0
    for text, places in form_features(tokens, form):
        n = max(1, len(places))
        texts.append(text)
        least_of = [n, *[_WHOLE + 1] * (n - 1)]  # no n-gram begins at a unit behind the first
        columns += [(at, at + len(text), n - j, least_of[j]) for j in range(n)]
        located.append(spans[list(places)] if places else np.full((1, 2), end))
        at += len(text)
    begins, ends, left, least = np.array(columns, np.int64).reshape(-1, 4).T
    return _Units("".join(texts), begins, ends, left, least, np.concatenate([spans[:0], *located]))


def _of_categories(view: View, pieces: Sequence[str], given: Mapping[str, str | None]) -> list[_Units]:
    """Each category is one unit and a run of its own, after the text."""
    end, one = len("\n".join(pieces)), np.ones(1, np.int64)
    names = [f"{field}={given[field]}" for field in view.categories if given.get(field) is not None]
    return [_Units(name, 0 * one, len(name) * one, one, one, np.full((1, 2), end)) for name in names]


def _concatenated(parts: Sequence[_Units]) -> _Units:
    if not parts:
        nothing = np.zeros(0, np.int64)
        return _Units("", nothing, nothing, nothing, nothing, np.zeros((0, 2), np.int64))
    texts, begins, ends, left, least, spans = zip(*parts, strict=True)
    lengths = np.array([len(text) for text in texts])
    before = np.repeat(np.cumsum(lengths) - lengths, [column.size for column in begins])
    return _Units(
        "".join(texts),
        np.concatenate(begins) + before,
        np.concatenate(ends) + before,
        np.concatenate(left),
        np.concatenate(least),
        np.concatenate(spans),
    )


def _normalized(view: View, text: str) -> tuple[str, NDArray[np.int64]]:
    """The text as `View` hashes it, and int64[n, 2], the span of each of its characters in the original text."""
    if view.form == HEAD:
        text = first_line(text)
    origins = np.arange(len(text))[:, None] + np.arange(2)
    if view.config.normalize:
        text, origins = normalized_with_origins(text)
    if view.config.lowercase:
        lower = text.lower()
        if len(lower) != len(text):  # İ becomes two characters
            origins = np.repeat(origins, [len(character.lower()) for character in text], axis=0)
        text = lower
    return masked_with_origins(text, origins, view.config.masks, view.config.tokens)


def _byte_offsets(data: NDArray[np.uint8], n: int) -> NDArray[np.int64]:
    """int64[n + 1]: the offset in the UTF-8 of each of n characters, and of the end."""
    data = data[: data.size - PADDING]
    begins = np.arange(n) if data.size == n else np.flatnonzero(data & 0xC0 != 0x80)
    return np.append(begins, data.size)
