"""Arrays that are not counted.

Compiled code counts the references to each array and to each view of it, with an atomic instruction whenever one is
made, passed on or dropped. Where small pieces of large tables are handed to a `@kernel` by the million, that takes
longer than what the kernel does with them.
"""

from collections.abc import Callable
from typing import Any

from streamlin.kernel.compiled_forms import compiled_by


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A compiled array without its owner; of a tuple, each of its arrays."""
    from numba.core import cgutils, types
    from numba.np.arrayobj import make_array

    make: Any = make_array
    null: Any = cgutils.get_null_value
    unpack: Any = cgutils.unpack_tuple
    if isinstance(kind, types.BaseTuple):
        items = zip(kind, unpack(builder, value), strict=True)  # type: ignore[call-overload]
        return context.make_tuple(builder, kind, [_without_owner(context, builder, *item) for item in items])
    if not isinstance(kind, types.Array):
        return value
    struct = make(kind)(context, builder, value)
    struct.meminfo = null(struct.meminfo.type)
    return struct._getvalue()


def _typed_unowned(_: Any, arrays: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of `unowned`, and what compiles it."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _without_owner(context, builder, signature.return_type, arguments[0])

    return arrays(arrays), compiled


def _typed_hold(_: Any, arrays: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of `hold`, and what compiles it: nothing, but of an argument, which is held until then."""
    from numba import types

    return types.void(arrays), lambda context, *_: context.get_dummy_value()


@compiled_by(_typed_unowned)
def unowned(arrays: Any) -> Any:
    """The same array, or tuple of arrays and numbers, for kernels alone.

    The caller must hold it for as long as the result, or any view of it, is used: arguments are held until a kernel
    returns, what it makes itself until `hold`.
    """
    return arrays


@compiled_by(_typed_hold)
def hold(arrays: Any) -> None:
    """Within a `@kernel`: keep what `unowned` was called with until here."""
