"""Choosing one of two numbers without a branch."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba.extending import intrinsic

from streamlin.kernel.decorator import config

Number = TypeVar("Number")


def _either(condition: bool, yes: Number, no: Number) -> Number:
    return yes if condition else no


def _typed(_: Any, condition: Any, yes: Any, no: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of `either`, and what compiles it."""
    return yes(condition, yes, yes), lambda context, builder, signature, arguments: builder.select(*arguments)


either = cast(Callable[[Any, Any, Any], Any], _either if config.DISABLE_JIT else intrinsic(_typed))
"""`either(condition, yes, no)`, within a `@kernel`: one of two numbers of the same type, both of which are computed.

Where one of them is the value that is already there, LLVM makes of a branch a store that is masked, which takes far
longer than to store all values.
"""
