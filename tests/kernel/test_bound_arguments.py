"""A kernel sees bound arguments as if they were passed one by one."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamlin.kernel import kernel
from streamlin.kernel.bound_arguments import BoundArguments


@kernel
def scaled_sum(bundle, factor, text):
    """Write to one array of the bundle and read the others."""
    numbers, total, step = bundle.items
    total[0] += factor * numbers.sum() + step
    return len(text)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_a_kernel_reads_and_changes_bound_arrays(dtype):
    numbers, total = np.arange(4).astype(dtype), np.zeros(1)
    bundle = BoundArguments((numbers, total, 5))
    assert bundle.call(scaled_sum, 2.0, bytearray(b"abc")) == 3
    numbers[:] = 1
    assert bundle.call(scaled_sum, 3.0, bytearray(b"")) == 0
    assert_array_equal(total, [2 * 6 + 5 + 3 * 4 + 5])


def test_bound_arrays_live_as_long_as_the_bundle():
    total = np.zeros(1)
    bundle = BoundArguments((np.ones(100_000), total, 0))
    others = [np.full(100_000, 7.0) for _ in range(3)]
    bundle.call(scaled_sum, 1.0, bytearray())
    assert total[0] == 100_000
    assert len(others) == 3
