"""MurmurHash3, the 32-bit variant for x86, seed 0.

Austin Appleby, public domain, 2011: https://github.com/aappleby/smhasher, `MurmurHash3_x86_32`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.late import in_python
from streamlin.kernel.words import load_half

_C1, _C2, _STEP = np.uint32(0xCC9E2D51), np.uint32(0x1B873593), np.uint32(0xE6546B64)
_F1, _F2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)


@kernel
def murmur3_32(data: NDArray[np.uint8], begin: np.int64, end: np.int64) -> np.int32:
    """Hash of `data[begin:end]`, which must be followed by `streamlin.kernel.byte_buffers.PADDING` bytes.

    Branches on the length of a word are unpredictable. The first two blocks are therefore always hashed, and used only
    if they exist; the last up to three bytes are read together with the bytes after them, which are masked out. Numbers
    are unsigned, which halves the time.
    """
    four, eight = np.uint64(4), np.uint64(8)
    at, size = np.uint64(begin), np.uint64(end - begin)
    whole, more = size & ~np.uint64(3), size & np.uint64(3)
    first = _with_block(np.uint32(0), load_half(data, at))
    second = _with_block(first, load_half(data, at + four))
    h = first if whole >= four else np.uint32(0)
    h = second if whole >= eight else h
    i = eight
    while i < whole:
        h = _with_block(h, load_half(data, at + i))
        i += four
    mask = np.uint32((np.uint64(1) << (eight * more)) - np.uint64(1))
    h = np.uint32(h ^ _scrambled(np.uint32(load_half(data, at + whole) & mask)))
    return _finished(np.uint32(h ^ np.uint32(size)))


@kernel
def _with_block(h: np.uint32, k: np.uint32) -> np.uint32:
    h = np.uint32(h ^ _scrambled(k))
    h = np.uint32((h << np.uint32(13)) | (h >> np.uint32(19)))
    return np.uint32(h * np.uint32(5) + _STEP)


@kernel
def _scrambled(k: np.uint32) -> np.uint32:
    k = np.uint32(k * _C1)
    k = np.uint32((k << np.uint32(15)) | (k >> np.uint32(17)))
    return np.uint32(k * _C2)


@kernel
def _finished(h: np.uint32) -> np.int32:
    h = np.uint32(h ^ (h >> np.uint32(16)))
    h = np.uint32(h * _F1)
    h = np.uint32(h ^ (h >> np.uint32(13)))
    h = np.uint32(h * _F2)
    return np.int32(h ^ (h >> np.uint32(16)))


def hashes_of(texts: Sequence[bytes]) -> NDArray[np.int32]:
    """int32[n]: the hash of each text, in numpy: block after block, each of all texts at once."""
    with_block, scrambled, finished = map(in_python, (_with_block, _scrambled, _finished))
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    begins, n_blocks = np.cumsum(lengths) - lengths, lengths // 4
    data = b"".join([*texts, bytes(4)])
    words: NDArray[np.uint32] = np.ndarray(len(data) - 3, "<u4", data, 0, (1,))  # the one that begins at each byte
    h = np.zeros(len(texts), np.uint32)
    for block in range(int(n_blocks.max(initial=0))):
        (longer,) = np.nonzero(n_blocks > block)
        h[longer] = with_block(h[longer], words[begins[longer] + 4 * block])
    mask = ((1 << 8 * (lengths % 4)) - 1).astype(np.uint32)
    h ^= scrambled(words[begins + 4 * n_blocks] & mask)
    hashes: NDArray[np.int32] = finished(h ^ lengths.astype(np.uint32))
    return hashes
