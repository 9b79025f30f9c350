"""Arrays that are not counted, within kernels."""

from typing import NamedTuple

import numpy as np
import pytest
from numba.core.runtime import _nrt_python as runtime
from numba.core.runtime import rtsys

from streamlin.kernel import kernel
from streamlin.kernel.unowned import hold, unowned


class Pair(NamedTuple):
    """An array, and a tuple of another one and a number."""

    first: np.ndarray
    rest: tuple


@kernel
def sums(x, n):
    """The sums of x and of fresh arrays that are passed on without an owner."""
    made = Pair(np.ones(n), (np.ones((n, 2)), 3.0))
    pair, y = unowned(made), unowned(x)
    others = np.zeros(n)  # would take the memory of `made`, had that been freed
    total = others.sum()
    for i in range(n):
        total += added(pair, y, i)
    hold(made)
    return total


@kernel
def added(pair, x, i):
    """What row i adds."""
    return pair.first[i] + pair.rest[0][i].sum() + pair.rest[1] + x[i]


@pytest.fixture
def counted():
    """With counts of what compiled code allocates and frees."""
    runtime.memsys_enable_stats()
    yield
    runtime.memsys_disable_stats()


def test_unowned_arrays_are_read_and_freed_once(counted):
    assert sums(np.full(50, 0.5), 50) == 50 * (1 + 2 + 3 + 0.5)
    before = rtsys.get_allocation_stats()
    assert sums(np.full(50, 0.5), 50) == 50 * (1 + 2 + 3 + 0.5)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0
