"""Texts as one buffer."""

from collections.abc import Sequence

import numpy as np

from streamlin.kernel.byte_buffers import Utf8Texts, encode_texts


def utf8_texts(texts: Sequence[str], plain: bool = False) -> Utf8Texts:
    octets, lengths = encode_texts(texts)
    return Utf8Texts(octets.copy(), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), plain)
