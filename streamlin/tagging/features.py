"""From sentences to hash buckets: what the reading thread computes, since it depends on no state."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.events import Batch, taken
from streamlin.features.hashing import hash_ranges
from streamlin.features.token_hashes import TokenHashes
from streamlin.kernel.byte_buffers import change_beyond_ascii, encode_texts
from streamlin.tagging.templates import (
    LEVELS,
    N_AROUND,
    N_COLUMN,
    N_WORDS,
    around_buckets,
    classes_for,
    column_buckets,
    context_buckets,
    hash_parts,
    word_buckets,
)

_LETTERS, _LOWER = np.uint8(26), np.uint8(5)
"""The number of upper-case letters in ASCII, and the place of the bit that makes them lower-case."""


class TokenBuckets(NamedTuple):
    """The features of m tokens of n sentences.

    bounds : int64[n + 1], of each sentence's tokens.
    words : uint32[m], the hash of each token as it stands.
    buckets : int32[m, templates], in [0, 2^bits). contexts : int32[m, LEVELS], likewise.
    """

    bounds: NDArray[np.int64]
    words: NDArray[np.uint32]
    buckets: NDArray[np.int32]
    contexts: NDArray[np.int32]

    @property
    def hashes(self) -> TokenHashes:
        """The tokens as such."""
        return TokenHashes(self.bounds, self.words.astype(np.uint64))

    def followed_by(self, other: "TokenBuckets") -> "TokenBuckets":
        """Those of further sentences behind these."""
        bounds = np.concatenate([self.bounds, other.bounds[1:] + self.bounds[-1]])
        words, buckets, contexts = (np.concatenate(pair) for pair in zip(self[1:], other[1:], strict=True))
        return TokenBuckets(bounds, words, buckets, contexts)

    def take(self, sentences: NDArray[np.int64]) -> "TokenBuckets":
        """Those of some sentences, in the order given."""
        bounds, tokens = taken(self.bounds, sentences)
        return TokenBuckets(bounds, self.words[tokens], self.buckets[tokens], self.contexts[tokens])


class TokenView:
    """Turns sentences into hashed features of their tokens, by fixed templates. It has no state.

    Without further columns a token has the templates of words; with columns those of words around it and, for each
    column, its values around it.

    bits : 1 to 31. columns : their names.
    """

    def __init__(self, bits: int, columns: Sequence[str] = ()) -> None:
        self.bits, self.columns = bits, tuple(columns)
        self.n_templates = N_AROUND + N_COLUMN * len(columns) if columns else N_WORDS

    def buckets(self, batch: Batch) -> TokenBuckets:
        """The features of a batch of sentences."""
        assert batch.pieces is not None
        assert batch.tokens is not None
        bounds, tokens = batch.pieces, batch.texts
        data, lengths = encode_texts(tokens)
        parts = hash_parts(data, lengths, *_lowered(tokens, data, lengths), classes_for(data[: lengths.sum()]))
        buckets = np.empty((len(tokens), self.n_templates), np.int32)
        column_hashes = np.zeros(len(tokens), np.uint32)
        if not self.columns:
            word_buckets(parts, bounds, self.bits, 0, buckets)
        else:
            around_buckets(parts, bounds, self.bits, 0, buckets)
            for number, name in enumerate(self.columns):
                hashes = _hashes(batch.tokens.columns[name])
                first = N_AROUND + N_COLUMN * number
                column_buckets(hashes.reshape(-1, 1), bounds, number, self.bits, first, buckets)
                column_hashes = column_hashes * np.uint32(31) + hashes
        contexts = np.empty((len(tokens), LEVELS), np.int32)
        context_buckets(parts, column_hashes, self.bits, contexts)
        return TokenBuckets(bounds, parts[:, 0].copy(), buckets, contexts)


def _lowered(
    tokens: Sequence[str], data: NDArray[np.uint8], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The UTF-8 of the tokens lower-cased, and its lengths. data, lengths : of the tokens as they are."""
    lower = change_beyond_ascii(tokens, str.lower)
    if lower is not tokens:
        data, lengths = encode_texts(lower)
    return data | ((data - np.uint8(ord("A")) < _LETTERS).view(np.uint8) << _LOWER), lengths


def _hashes(values: Sequence[str]) -> NDArray[np.uint32]:
    """The hash of each value."""
    data, lengths = encode_texts(values)
    ends = np.cumsum(lengths)
    return hash_ranges(data, ends - lengths, ends).view(np.uint32)
