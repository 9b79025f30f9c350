"""How a block of records is given out in portions."""

from collections.abc import Sequence

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from connectors.polling import PolledSource
from connectors.records import PartRecords


class Blocks(PolledSource):
    """Blocks of so many records each."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self._blocks = [block(size) for size in sizes]

    def read(self) -> list[PartRecords] | None:
        return [self._blocks.pop(0)] if self._blocks else None


def block(size: int) -> PartRecords:
    numbers = np.arange(size)
    return PartRecords(b"x" * size, numbers, numbers + 1, numbers, numbers + 1, "part")


@given(st.lists(st.integers(1, 150), max_size=5), st.integers(1, 60))
@example([101], 50)
def test_a_block_is_given_out_in_full_portions_without_a_small_rest(sizes: list[int], limit: int) -> None:
    source = Blocks(sizes)
    for size in sizes:
        portions = -(-size // limit)
        given_out = [records for _ in range(portions) for records in source.poll(limit) or ()]
        counts = [len(records) for records in given_out]
        assert max(counts) <= limit
        assert set(counts[:-2]) <= {limit}
        assert min(counts) * 16 >= min(limit, size)
        assert np.concatenate([records.offsets for records in given_out]).tolist() == list(range(size))
    assert source.poll(limit) is None
