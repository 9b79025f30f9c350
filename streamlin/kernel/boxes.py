"""numba's form of bound arguments, see `streamlin.kernel.bound_arguments`."""

from typing import Any

from numba import types
from numba.experimental import structref

from streamlin.kernel.decorator import kernel


@structref.register
class _BoxType(types.StructRef):
    """numba's type of a `Box`."""


class Box(structref.StructRefProxy):
    """Bound arguments that kernels receive as their first argument, a `BoundTuple`."""

    items: Any


structref.define_proxy(Box, _BoxType, ["items"])  # type: ignore[no-untyped-call]


@kernel
def boxed(items: Any) -> Any:
    """A box of these arguments, a tuple."""
    return Box(items)  # type: ignore[no-untyped-call]
