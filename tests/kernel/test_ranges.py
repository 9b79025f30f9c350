"""Copying chosen ranges of an array."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis.strategies import data, integers, lists, sampled_from

from streamlin.kernel.ranges import bounds_of, copy_ranges


@given(data(), lists(integers(0, 5), min_size=1, max_size=9), sampled_from([np.uint8, np.int32, np.float32]))
def test_chosen_ranges_are_copied_in_the_order_given(data, lengths, dtype):
    bounds = np.append(0, np.cumsum(lengths))
    source = np.arange(bounds[-1]).astype(dtype)
    chosen = np.array(data.draw(lists(integers(0, len(lengths) - 1), max_size=9)), np.int64)
    own = bounds_of(bounds, chosen)
    copies = np.empty(own[-1], dtype)
    copy_ranges(source, bounds, chosen, own, copies)
    wanted = [source[bounds[i] : bounds[i + 1]] for i in chosen]
    assert [copies[a:b].tolist() for a, b in pairwise(own)] == [one.tolist() for one in wanted]
