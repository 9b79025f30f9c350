"""The tokens of texts as 64-bit hashes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamlin.config import ViewConfig
from streamlin.features.token_hashes import hashes_of, murmur_64a
from streamlin.features.view import View
from streamlin.kernel.byte_buffers import PADDING
from tests.features.batches import batch_of

MASK = (1 << 64) - 1


def naive(data: bytes) -> int:
    """MurmurHash64A of seed 0 as published, in Python."""
    m, r = 0xC6A4A7935BD1E995, 47
    h = len(data) * m & MASK
    while len(data) >= 8:
        k = int.from_bytes(data[:8], "little") * m & MASK
        k ^= k >> r
        h = (h ^ (k * m & MASK)) * m & MASK
        data = data[8:]
    if data:
        h = (h ^ int.from_bytes(data, "little")) * m & MASK
    h = (h ^ (h >> r)) * m & MASK
    return h ^ (h >> r)


@given(st.binary(max_size=40), st.binary(min_size=PADDING, max_size=PADDING), st.binary(max_size=9))
def test_hash_equals_its_twin(data: bytes, behind: bytes, before: bytes) -> None:
    buffer = np.frombuffer(bytearray(before + data + behind), np.uint8)
    assert int(murmur_64a(buffer, np.int64(len(before)), np.int64(len(before) + len(data)))) == naive(data)


@pytest.mark.parametrize(
    "config", [ViewConfig(), ViewConfig(tokens="char_wb", ngrams=(2, 4)), ViewConfig(ngrams=(2, 3))]
)
def test_tokens_in_order_and_the_same_features(config: ViewConfig) -> None:
    batch, view = batch_of([["Ein Hund,", "ein HAUS"], [""], ["élan"]]), View(config)
    features, tokens = view.buckets_and_tokens(batch)
    expected = [b"ein", b"hund", b"ein", b"haus", "élan".encode()]
    if config.tokens == "words":
        assert tokens.indptr.tolist() == [0, 4, 4, 5]
        assert tokens.hashes.tolist() == [naive(word) for word in expected]
    for own, other in zip(features, view.buckets(batch), strict=True):
        assert np.array_equal(own, other)


def test_hashes_of_tokens_as_they_stand() -> None:
    assert hashes_of(["Ein", "Ölfass"]).tolist() == [naive(b"Ein"), naive("Ölfass".encode())]
