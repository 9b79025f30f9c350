"""Keys go to the partition that Kafka's own clients would choose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.kafka.python_client.partitioner import murmur2, partitions_of


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_vectors_of_kafkas_own_tests(key, expected):
    """org.apache.kafka.common.utils.UtilsTest.testMurmur2; Java's int has a sign."""
    found = murmur2(np.frombuffer(b"<" + key + b">", np.uint8), 1, 1 + len(key))
    assert int(np.uint32(found).view(np.int32)) == expected


def twin(key: bytes, n: int) -> int:
    """`Utils.toPositive(Utils.murmur2(key)) % n`, in numbers without end."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for i in range(0, whole, 4):
        k = int.from_bytes(key[i : i + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = (h * m & mask) ^ k
    if key[whole:]:
        h = (h ^ int.from_bytes(key[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return ((h ^ h >> 15) & 0x7FFFFFFF) % n


@given(st.lists(st.binary(max_size=13), max_size=20), st.integers(1, 1000))
def test_many_keys_at_once(keys, n):
    data = np.frombuffer(b"".join(keys), np.uint8)
    bounds = np.cumsum([0, *map(len, keys)])
    assert partitions_of(data, bounds, n).tolist() == [twin(key, n) for key in keys]
