"""Arrays that are not counted.

Compiled code counts the references to each array and to each view of it, with an atomic instruction whenever one is
made, passed on or dropped. Where small pieces of large tables are handed to a `@kernel` by the million, that takes
longer than what the kernel does with them.
"""

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from streamlin.kernel.decorator import config


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A compiled array without its owner; of a tuple, each of its arrays."""
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


if config.DISABLE_JIT:

    def unowned(arrays: Any) -> Any:
        """The same arrays; see the compiled form."""
        return arrays

    def hold(arrays: Any) -> None:
        """Nothing; see the compiled form."""

else:

    @intrinsic
    def unowned(typing_context: Any, arrays: Any) -> Any:
        """The same array, or tuple of arrays and numbers, for kernels alone.

        The caller must hold it for as long as the result, or any view of it, is used: arguments are held until a kernel
        returns, what it makes itself until `hold`.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _without_owner(context, builder, signature.return_type, arguments[0])

        return arrays(arrays), generate

    @intrinsic
    def hold(typing_context: Any, arrays: Any) -> Any:
        """Keep what `unowned` was called with until here."""
        return types.void(arrays), lambda context, *_: context.get_dummy_value()
