"""Functions that kernels call are no kernels of their own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel


@kernel
def reversed_(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A view of the same array, which kernel and Python count as another reference to it."""
    return values[::-1]


@kernel
def reversed_twice(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return reversed_(reversed_(values))


def test_a_function_that_a_kernel_calls_gets_an_entry_once_python_calls_it() -> None:
    inner: Any = reversed_
    values = np.arange(3.0)
    assert reversed_twice(values).tolist() == [0, 1, 2]
    assert not inner.overloads
    assert inner(values).tolist() == [2, 1, 0]
    assert len(inner.overloads) == 1
