"""Choosing one of two numbers without a branch."""

from collections.abc import Callable
from typing import Any

from streamlin.kernel.compiled_forms import compiled_by


def _typed(_: Any, condition: Any, yes: Any, no: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of `either`, and what compiles it."""
    return yes(condition, yes, yes), lambda context, builder, signature, arguments: builder.select(*arguments)


@compiled_by(_typed)
def either(condition: Any, yes: Any, no: Any) -> Any:
    """Within a `@kernel`: one of two numbers of the same type, both of which are computed.

    Where one of them is the value that is already there, LLVM makes of a branch a store that is masked, which takes far
    longer than to store all values.
    """
    return yes if condition else no
