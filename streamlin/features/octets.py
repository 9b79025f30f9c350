"""Texts as the bytes that kernels read."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamlin.features.murmur3 import PADDING

_PADDING = bytes(PADDING)


def joined(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The UTF-8 of all texts one behind the other, with PADDING, and int64[n], how many bytes each has.

    A lone surrogate, which has no UTF-8, is three bytes as any other character of its range would be.
    """
    encoded: Sequence[str] | list[bytes] = texts
    whole = bytearray("".join(texts), "utf-8", "surrogatepass")
    if not whole.isascii():
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    whole += bytes(PADDING)
    return np.frombuffer(whole, np.uint8), np.fromiter(map(len, encoded), np.int64, len(texts))


def padded(text: str) -> bytearray:
    """The UTF-8 of one text, with PADDING, which is zeros."""
    return bytearray(text.encode("utf-8", "surrogatepass") + _PADDING)
