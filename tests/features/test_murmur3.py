"""The hash against published values, scikit-learn's and the twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32 as reference

from streamlin.features.murmur3 import murmur3_32
from streamlin.kernel.byte_buffers import PADDING
from tests import naive_features


def hashed(data: bytes, behind: bytes = bytes(PADDING), before: bytes = b"") -> int:
    buffer = np.frombuffer(bytearray(before + data + behind), np.uint8)
    return int(murmur3_32(buffer, len(before), len(before) + len(data)))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (b"test", 0xBA6BD213),
        (b"Hello, world!", 0xC0363E43),
        (b"The quick brown fox jumps over the lazy dog", 0x2E4FF723),
    ],
)
def test_published_values(data: bytes, expected: int) -> None:
    assert hashed(data) % 2**32 == expected
    assert naive_features.murmur3_32(data) % 2**32 == expected


@given(st.binary(max_size=40), st.binary(max_size=5), st.binary(min_size=PADDING, max_size=PADDING))
def test_hash_equals_scikit_learn_whatever_the_surrounding_bytes(data: bytes, before: bytes, behind: bytes) -> None:
    assert hashed(data, behind, before) == reference(data, seed=0) == naive_features.murmur3_32(data)
