"""What the run tells its workers."""

import numpy as np
import pytest

from streamlin.cluster.messages import pack, to_learn, unpack
from streamlin.events import Event
from streamlin.kernel.byte_buffers import Utf8Texts, encode_texts
from streamlin.sharding.shard import Piece
from tests.sample_streams import batch_of

TEXTS = ["one", "zwei é", "", "四 4", "five"]


@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.parametrize("events", [[], [0], [1, 2, 4], [3, 4], [0, 1, 2, 3, 4]])
def test_the_texts_of_a_shard_are_sent(as_bytes: bool, events: list[int]) -> None:
    """As a list, or as the UTF-8 that they were read as; kernels may then write to it."""
    batch = batch_of([Event(text, str(number)) for number, text in enumerate(TEXTS)])
    if as_bytes:
        octets, lengths = encode_texts(TEXTS)
        batch.texts = Utf8Texts(octets, np.append(0, np.cumsum(lengths)), plain=True)
    sent = to_learn(Piece(batch, {}, np.array(events, np.int64)), ())
    found = unpack(pack(sent))
    assert isinstance(found.texts, Utf8Texts) == as_bytes
    assert [*found.texts] == [TEXTS[event] for event in events]
    if as_bytes:
        assert found.texts.octets.flags.writeable
        octets, lengths = encode_texts([TEXTS[event] for event in events])
        assert bytes(found.texts.octets) == bytes(octets)
        assert np.diff(found.texts.bounds).tolist() == lengths.tolist()
