"""Byte buffers: texts as the UTF-8 that kernels read, and copying within kernels."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

PADDING = 8
"""Bytes that a buffer must have after the last byte that is hashed or copied."""

_PADDING = bytes(PADDING)


def encode_texts(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The UTF-8 of all texts in one buffer, followed by PADDING, and int64[n], the length of each in bytes.

    A lone surrogate, which has no UTF-8, is encoded as three bytes (`surrogatepass`).
    """
    encoded: Sequence[str] | list[bytes] = texts
    buffer = bytearray("".join(texts), "utf-8", "surrogatepass")
    if not buffer.isascii():
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    buffer += _PADDING
    return np.frombuffer(buffer, np.uint8), np.fromiter(map(len, encoded), np.int64, len(texts))


def encode_text(text: str) -> bytearray:
    """The UTF-8 of one text, followed by PADDING, which is zeros."""
    return bytearray(text.encode("utf-8", "surrogatepass") + _PADDING)


def concatenate(pieces: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The pieces in one buffer, followed by PADDING, and int64[n + 1], their bounds."""
    bounds = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
    return np.frombuffer(b"".join([*pieces, _PADDING]), np.uint8), bounds


@kernel
def copy_bytes(source: NDArray[np.uint8], begin: int, end: int, target: NDArray[np.uint8], at: int) -> int:
    """Copy `source[begin:end]` to `target[at:]`; returns where the copy ends.

    Both arrays must have PADDING more bytes; up to seven bytes of the target after the copy are overwritten. The
    indices are unsigned so that eight bytes compile to one load and one store; most pieces need at most two of them.
    """
    to, stop = np.uint64(at), np.uint64(end)
    i = np.uint64(begin)
    while i < stop:
        _store_word(target, to, load_word(source, i))
        i += np.uint64(8)
        to += np.uint64(8)
    return at + (end - begin)


@kernel
def load_word(data: NDArray[np.uint8], i: np.uint64) -> np.uint64:
    """The eight bytes from i on, little-endian."""
    word = np.uint64(data[i])
    word |= np.uint64(data[i + np.uint64(1)]) << np.uint64(8)
    word |= np.uint64(data[i + np.uint64(2)]) << np.uint64(16)
    word |= np.uint64(data[i + np.uint64(3)]) << np.uint64(24)
    word |= np.uint64(data[i + np.uint64(4)]) << np.uint64(32)
    word |= np.uint64(data[i + np.uint64(5)]) << np.uint64(40)
    word |= np.uint64(data[i + np.uint64(6)]) << np.uint64(48)
    word |= np.uint64(data[i + np.uint64(7)]) << np.uint64(56)
    return word


@kernel
def _store_word(data: NDArray[np.uint8], i: np.uint64, word: np.uint64) -> None:
    data[i] = np.uint8(word)
    data[i + np.uint64(1)] = np.uint8(word >> np.uint64(8))
    data[i + np.uint64(2)] = np.uint8(word >> np.uint64(16))
    data[i + np.uint64(3)] = np.uint8(word >> np.uint64(24))
    data[i + np.uint64(4)] = np.uint8(word >> np.uint64(32))
    data[i + np.uint64(5)] = np.uint8(word >> np.uint64(40))
    data[i + np.uint64(6)] = np.uint8(word >> np.uint64(48))
    data[i + np.uint64(7)] = np.uint8(word >> np.uint64(56))
