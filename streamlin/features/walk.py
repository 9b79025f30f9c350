"""The n-grams of one event and the places that they come from: what hashing throws away.

What kernels do to a batch is done here to one event: cut by `re`, then hashed by the kernels' own murmur3, n-grams in
the order in which they hash them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.config import Tokens
from streamlin.features.hashing import hash_ranges
from streamlin.features.masks import masked_with_origins
from streamlin.features.view import View
from streamlin.kernel.byte_buffers import PADDING, joined

_TOKENS: dict[Tokens, re.Pattern[str]] = {
    "words": re.compile(r"\w+"),
    "scikit-learn": re.compile(r"\w{2,}"),
    "whitespace": re.compile(r"\S+"),
    "char_wb": re.compile(r"\S+"),
}


class Ngrams(NamedTuple):
    """The N n-grams of an event, repeats and all, of U units: tokens, or characters.

    text : what they are cut from, lower-cased and masked; n-gram i is `text[begins[i]:ends[i]]`.
    begins, ends : int64[N].
    hashes : int32[N], their murmur3.
    first, size : int64[N]; n-gram i has the units from `first[i]` on, `size[i]` of them.
    spans : int64[U, 2], where each unit stands in the event's pieces, joined by a line feed. Empty for what does not
        stand there: a blank around a token, a category.
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

    def places(self, of: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Where some n-grams begin and end in the event's text."""
        first, last = self.first[of], self.first[of] + self.size[of] - 1
        return list(zip(self.spans[first, 0].tolist(), self.spans[last, 1].tolist(), strict=True))


class _Units(NamedTuple):
    """U units in their order. n-grams do not leave a run of them: a piece's tokens, or a token's characters.

    text : unit j is `text[begins[j]:ends[j]]`, and what lies between two of a run is between them in an n-gram too.
    left : int64[U], how many units its run has from unit j on. least : int64[U], how many its shortest n-gram has.
    spans : as in `Ngrams`.
    """

    text: str
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    left: NDArray[np.int64]
    least: NDArray[np.int64]
    spans: NDArray[np.int64]


def ngrams(view: View, pieces: Sequence[str], categories: Mapping[str, str | None] | None = None) -> Ngrams:
    """The n-grams of an event, and what its categories count as.

    pieces : its texts. categories : value by field, None where there is none.
    """
    units = _concatenated([*_of_pieces(view, pieces), *_of_categories(view, pieces, categories or {})])
    counts = np.maximum(0, np.minimum(view.config.ngrams[1], units.left) - units.least + 1)
    first = np.repeat(np.arange(counts.size), counts)
    size = units.least[first] + np.arange(first.size) - np.repeat(np.cumsum(counts) - counts, counts)
    begins, ends = units.begins[first], units.ends[first + size - 1]
    octets, _ = joined([units.text])
    before = _octets_before(octets, len(units.text))
    hashes = hash_ranges(octets, before[begins], before[ends])
    return Ngrams(units.text, begins, ends, hashes, first, size, units.spans)


def _of_pieces(view: View, pieces: Sequence[str]) -> list[_Units]:
    found, begin = [], 0
    for piece in pieces:
        text, origins = _prepared(view, piece)
        tokens = [match.span() for match in _TOKENS[view.config.tokens].finditer(text)]
        cut = _characters if view.config.tokens == "char_wb" else _tokens
        bounds = np.array(tokens, np.int64).reshape(-1, 2)
        found.append(cut([text[i:j] for i, j in tokens], bounds, origins + begin, view.config.ngrams[0]))
        begin += len(piece) + 1
    return found


def _tokens(tokens: list[str], bounds: NDArray[np.int64], origins: NDArray[np.int64], shortest: int) -> _Units:
    """Each token is a unit; bounds int64[T, 2] in the prepared text, of which origins int64[n, 2] are the spans."""
    lengths, n = bounds[:, 1] - bounds[:, 0], len(tokens)
    nexts = np.cumsum(lengths + 1)
    spans = np.stack([origins[bounds[:, 0], 0], origins[bounds[:, 1] - 1, 1]], axis=1)
    text = "".join(f"{token} " for token in tokens)
    return _Units(text, nexts - lengths - 1, nexts - 1, n - np.arange(n), np.full(n, shortest), spans)


def _characters(tokens: list[str], bounds: NDArray[np.int64], origins: NDArray[np.int64], shortest: int) -> _Units:
    """Each character is one, and a blank before and behind each token; a shorter token is one n-gram as a whole."""
    sizes = bounds[:, 1] - bounds[:, 0] + 2
    units = np.arange(sizes.sum())
    run_ends, run_sizes = np.repeat(np.cumsum(sizes), sizes), np.repeat(sizes, sizes)
    at = units - run_ends + run_sizes - 1 + np.repeat(bounds[:, 0], sizes)
    is_first, is_last = units == run_ends - run_sizes, units == run_ends - 1
    spans = origins[at + is_first - is_last]
    spans[is_first, 1], spans[is_last, 0] = spans[is_first, 0], spans[is_last, 1]
    text = "".join(f" {token} " for token in tokens)
    return _Units(text, units, units + 1, run_ends - units, np.minimum(shortest, run_sizes), spans)


def _of_categories(view: View, pieces: Sequence[str], given: Mapping[str, str | None]) -> list[_Units]:
    """Each is a run of its own, behind the text."""
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


def _prepared(view: View, text: str) -> tuple[str, NDArray[np.int64]]:
    """The text lower-cased and masked, and int64[n, 2], where each of its characters stands in the text given."""
    origins = np.arange(len(text))[:, None] + np.arange(2)
    if view.config.lowercase:
        lower = text.lower()
        if len(lower) != len(text):  # İ becomes two characters
            origins = np.repeat(origins, [len(character.lower()) for character in text], axis=0)
        text = lower
    return masked_with_origins(text, origins, view.config.masks)


def _octets_before(octets: NDArray[np.uint8], n: int) -> NDArray[np.int64]:
    """int64[n + 1], how many bytes of UTF-8 there are before each of n characters, and in all."""
    data = octets[: octets.size - PADDING]
    begins = np.arange(n) if data.size == n else np.flatnonzero(data & 0xC0 != 0x80)
    return np.append(begins, data.size)
