"""Texts as the bytes that kernels read, and how kernels move them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel

PADDING = 8
"""How many bytes there must be behind what is hashed or moved."""

_PADDING = bytes(PADDING)


def joined(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The UTF-8 of all texts one behind the other, with PADDING, and int64[n], how many bytes each has.

    A lone surrogate, which has no UTF-8, is three bytes as any other character of its range would be.
    """
    encoded: Sequence[str] | list[bytes] = texts
    whole = bytearray("".join(texts), "utf-8", "surrogatepass")
    if not whole.isascii():
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    whole += _PADDING
    return np.frombuffer(whole, np.uint8), np.fromiter(map(len, encoded), np.int64, len(texts))


def padded(text: str) -> bytearray:
    """The UTF-8 of one text, with PADDING, which is zeros."""
    return bytearray(text.encode("utf-8", "surrogatepass") + _PADDING)


def bounded(pieces: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The pieces one behind the other, with PADDING, and int64[n + 1], where each begins and ends."""
    bounds = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
    return np.frombuffer(b"".join([*pieces, _PADDING]), np.uint8), bounds


@kernel
def move(source: NDArray[np.uint8], begin: int, end: int, target: NDArray[np.uint8], at: int) -> int:
    """Copy `source[begin:end]` to `target[at:]`; returns where it ends there.

    Both go on for PADDING bytes; those of the target behind the end mean nothing. Unsigned indices: so eight bytes
    compile to one load and one store, and most pieces are no longer than two of those.
    """
    to, stop = np.uint64(at), np.uint64(end)
    i = np.uint64(begin)
    while i < stop:
        _put_word(target, to, _word(source, i))
        i += np.uint64(8)
        to += np.uint64(8)
    return at + (end - begin)


@kernel
def _word(octets: NDArray[np.uint8], i: np.uint64) -> np.uint64:
    """The little-endian eight bytes from i on."""
    word = np.uint64(octets[i])
    word |= np.uint64(octets[i + np.uint64(1)]) << np.uint64(8)
    word |= np.uint64(octets[i + np.uint64(2)]) << np.uint64(16)
    word |= np.uint64(octets[i + np.uint64(3)]) << np.uint64(24)
    word |= np.uint64(octets[i + np.uint64(4)]) << np.uint64(32)
    word |= np.uint64(octets[i + np.uint64(5)]) << np.uint64(40)
    word |= np.uint64(octets[i + np.uint64(6)]) << np.uint64(48)
    word |= np.uint64(octets[i + np.uint64(7)]) << np.uint64(56)
    return word


@kernel
def _put_word(octets: NDArray[np.uint8], i: np.uint64, word: np.uint64) -> None:
    octets[i] = np.uint8(word)
    octets[i + np.uint64(1)] = np.uint8(word >> np.uint64(8))
    octets[i + np.uint64(2)] = np.uint8(word >> np.uint64(16))
    octets[i + np.uint64(3)] = np.uint8(word >> np.uint64(24))
    octets[i + np.uint64(4)] = np.uint8(word >> np.uint64(32))
    octets[i + np.uint64(5)] = np.uint8(word >> np.uint64(40))
    octets[i + np.uint64(6)] = np.uint8(word >> np.uint64(48))
    octets[i + np.uint64(7)] = np.uint8(word >> np.uint64(56))
