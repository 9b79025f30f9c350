"""Hashes texts as `hashing.hash_texts` does, by strings of Python: at first, see `kernel.late`.

For a thousand short texts that takes 0.1 seconds a view, forty times as long as the kernel.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.features.characters import BEGINS, DIGIT, LOWER, UPPER
from streamlin.features.forms import FIRST, HEAD, LARGEST_GAP, MOST_FIRST, MOST_HEAD, SKIP
from streamlin.features.murmur3 import hashes_of
from streamlin.features.ngrams import buckets_of
from streamlin.features.shapes import MOST_TOKENS
from streamlin.features.sums import BINARY, COUNTS, LOG

_TOKEN = re.compile(b"[^\x00\x02][^\x00]*")
"""A token by the kinds of its characters: see `characters.token_characters`."""


def hash_texts_in_python(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    pieces: NDArray[np.int64],
    names: NDArray[np.uint8],
    name_lengths: NDArray[np.int64],
    ascii_ranges: NDArray[np.uint8],
    unicode_table: NDArray[np.uint8],
    min_length: int,
    form: int | None,
    shortest: int,
    longest: int,
    scale: int,
    bits: int,
    memo: Any | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The arguments and results of `hash_texts`; the memo is left alone."""
    if form is not None:
        features = _FORMS.get(form, partial(_shapes, unicode_table))
    else:
        features = partial(_ngrams if memo is None else _character_ngrams, shortest, longest)
    numbers = _Numbers()
    of_pieces = [
        numbers.of(features(tokens)) for tokens in _tokens(data, lengths, ascii_ranges, unicode_table, min_length)
    ]
    of_names = [numbers.of([name] if name else []) for name in _cut(names.tobytes(), name_lengths)]
    buckets = numbers.buckets(bits)
    n, k = pieces.size - 1, name_lengths.size // max(pieces.size - 1, 1)
    indptr, found = np.zeros(n + 1, np.int64), Counter[int]()
    all_buckets, counts = list[int](), list[int]()
    for i in range(n):
        own = [*of_pieces[pieces[i] : pieces[i + 1]], *of_names[i * k : (i + 1) * k]]
        found = Counter([buckets[number] for some in own for number in some])  # in order of first occurrence
        all_buckets += found
        counts += found.values()
        indptr[i + 1] = len(counts)
    return indptr, np.array(all_buckets, np.int32), _SCALES[scale](counts)


class _Numbers:
    """Numbers features, so that each is hashed once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, features: Sequence[str]) -> list[int]:
        """The number of each feature."""
        numbers = self._numbers
        return [numbers.setdefault(feature, len(numbers)) for feature in features]

    def buckets(self, bits: int) -> list[int]:
        """The bucket of each number."""
        texts = [feature.encode("utf-8", "surrogatepass") for feature in self._numbers]
        return [int(bucket) for bucket in buckets_of(hashes_of(texts), bits)]


def _cut(data: bytes, lengths: NDArray[np.int64]) -> Iterator[str]:
    """Texts one behind the other."""
    for begin, end in pairwise([0, *np.cumsum(lengths).tolist()]):
        yield data[begin:end].decode("utf-8", "surrogatepass")


def _tokens(
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    ascii_ranges: NDArray[np.uint8],
    unicode_table: NDArray[np.uint8],
    min_length: int,
) -> Iterator[list[str]]:
    """The tokens of each piece, see `tokens.write_tokens`."""
    octets = data.tobytes().lower() if ascii_ranges[-1] else data.tobytes()  # ASCII alone
    for text in _cut(octets, lengths):
        kinds = unicode_table[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)].tobytes()
        spans = [match.span() for match in _TOKEN.finditer(kinds)]
        yield [text[begin:end] for begin, end in spans if end - begin >= min_length]


def _ngrams(shortest: int, longest: int, tokens: list[str]) -> list[str]:
    """By position, shorter ones first."""
    n, lengths = len(tokens), range(shortest, longest + 1)
    return [" ".join(tokens[i : i + length]) for i in range(n) for length in lengths if i + length <= n]


def _character_ngrams(shortest: int, longest: int, tokens: list[str]) -> list[str]:
    """Of each token with a blank before and after it; a token that is too short is one."""
    found = []
    for token in tokens:
        padded = f" {token} "
        n = len(padded)
        lengths = range(min(shortest, n), longest + 1)
        found += [padded[i : i + length] for i in range(n) for length in lengths if i + length <= n]
    return found


def _first(tokens: list[str]) -> list[str]:
    n = len(tokens)
    places = [f"{min(place, 3)}:{token}" for place, token in enumerate(tokens[:MOST_FIRST])]
    begins = ["^" * more + " ".join(tokens[: more + 1]) for more in range(1, min(n, 3))]
    return [*places, *begins, *("$" * more + " ".join(tokens[n - more :]) for more in range(1, min(n, 2) + 1))]


def _head(tokens: list[str]) -> list[str]:
    return ["<" + token for token in tokens[:MOST_HEAD]]


def _pairs(tokens: list[str]) -> list[str]:
    n = min(len(tokens), MOST_TOKENS)
    return [f"{tokens[j]} _{tokens[k]}" for j in range(n) for k in range(j + 2, min(n, j + LARGEST_GAP + 1))]


def _shapes(kinds: NDArray[np.uint8], tokens: list[str]) -> list[str]:
    """See `shapes.write_shapes`."""
    if not tokens:
        return []
    of_characters = [kinds[[*map(ord, token)]].tolist() for token in tokens]
    shapes = [_shape(*token_and_kinds) for token_and_kinds in zip(tokens[:MOST_TOKENS], of_characters, strict=False)]
    pairs = [f"{one} {other}" for one, other in pairwise(shapes)]
    n, counts = len(tokens), Counter(kind for its in of_characters for kind in its)
    total = counts.total()
    found = [*shapes, *pairs, "^" + " ".join(shapes[:2]), "$" + shapes[-1]]
    found += [f"n={(n * n).bit_length() - 1}", f"c={(total * total).bit_length() - 1}"]
    for sign, kind in (("X", UPPER), ("d", DIGIT), (".", BEGINS)):
        found += [f"{sign}%{20 * counts[kind] // total}", f"{sign}#{counts[kind].bit_length()}"]
    return found


def _shape(token: str, kinds: list[int]) -> str:
    signs = [_SIGNS.get(kind, character) for character, kind in zip(token, kinds, strict=True)]
    runs = ((sign, len([*run])) for sign, run in groupby(signs))
    return "".join(sign + "+" if length > 1 else sign for sign, length in runs)


_SIGNS = {UPPER: "X", LOWER: "x", DIGIT: "d"}
_FORMS: dict[int, Callable[[list[str]], list[str]]] = {FIRST: _first, HEAD: _head, SKIP: _pairs}
_SCALES: dict[int, Callable[[list[int]], NDArray[np.float32]]] = {
    BINARY: lambda counts: np.ones(len(counts), np.float32),
    COUNTS: lambda counts: np.array(counts, np.float32),
    LOG: lambda counts: np.array([math.log(1.0 + count) for count in counts], np.float32),
}
