"""The tokens of texts, in order, as 64-bit hashes: what is counted about words needs no more of them.

MurmurHash64A, seed 0: Austin Appleby, public domain, 2008, https://github.com/aappleby/smhasher. Among ten million
different words, two are equal with a probability of 3e-6; words of up to eight bytes never are if as long.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.byte_buffers import encode_texts
from streamlin.kernel.words import load_word

_M, _R = np.uint64(0xC6A4A7935BD1E995), np.uint64(47)


class TokenHashes(NamedTuple):
    """The m tokens of n texts, those of all of a text's fields one behind the other.

    indptr : int64[n + 1]; text i has the tokens `indptr[i]` to `indptr[i + 1]`.
    hashes : uint64[m], in the order of the text.
    """

    indptr: NDArray[np.int64]
    hashes: NDArray[np.uint64]


def hashes_of(tokens: Sequence[str]) -> NDArray[np.uint64]:
    """uint64[m]: the hash of each token as it stands."""
    return hash_pieces(*encode_texts(tokens))


@kernel
def hash_written(
    tokens: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]], pieces: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """indptr and hashes of n texts, see `TokenHashes`.

    tokens : what `write_tokens` returns. pieces int64[n + 1] : those of each text.
    """
    token_bytes, starts, ends = tokens
    indptr = np.zeros(pieces.size, np.int64)
    for i in range(1, pieces.size):
        indptr[i] = ends[pieces[i] - 1] if pieces[i] > 0 else np.int64(0)
    hashes = np.empty(indptr[-1], np.uint64)
    for token in range(hashes.size):
        hashes[token] = murmur_64a(token_bytes, starts[token], starts[token + 1] - 1)
    return indptr, hashes


@kernel
def hash_pieces(data: NDArray[np.uint8], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """uint64[m]: the hash of each piece of data, one behind the other, followed by PADDING."""
    hashes, end = np.empty(lengths.size, np.uint64), np.int64(0)
    for piece in range(lengths.size):
        begin, end = end, end + lengths[piece]
        hashes[piece] = murmur_64a(data, begin, end)
    return hashes


@kernel
def murmur_64a(data: NDArray[np.uint8], begin: np.int64, end: np.int64) -> np.uint64:
    """Hash of `data[begin:end]`, which must be followed by PADDING bytes."""
    h = np.uint64(end - begin) * _M
    whole = begin + ((end - begin) & ~7)
    for i in range(begin, whole, 8):
        k = load_word(data, np.uint64(i)) * _M
        k ^= k >> _R
        h = (h ^ (k * _M)) * _M
    if whole < end:
        mask = (np.uint64(1) << np.uint64(8 * (end - whole))) - np.uint64(1)
        h = (h ^ (load_word(data, np.uint64(whole)) & mask)) * _M
    h = (h ^ (h >> _R)) * _M
    return h ^ (h >> _R)
