"""The one decorator that all compiled code goes through."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a function on arrays and numbers; no GIL, kept on disk, IEEE arithmetic in the order written."""
    return cast(Function, njit(nogil=True, cache=True, error_model="numpy")(function))
