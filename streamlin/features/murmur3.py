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
    if they exist; the last up to three bytes are read together with the bytes after them, which are masked out.
    """
    h = np.uint32(0)
    rest = begin + ((end - begin) & ~3)
    for i in range(2):
        hashed = _with_block(h, load_half(data, np.uint64(begin + 4 * i)))
        h = hashed if begin + 4 * i < rest else h
    for i in range(begin + 8, rest, 4):
        h = _with_block(h, load_half(data, np.uint64(i)))
    mask = np.uint32((1 << 8 * (end - rest)) - 1)
    h = np.uint32(h ^ _scrambled(np.uint32(load_half(data, np.uint64(rest)) & mask)))
    return _finished(np.uint32(h ^ np.uint32(end - begin)))


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
