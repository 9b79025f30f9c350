"""Asking for memory before it is needed, so that the processor does other work while it is on its way."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from streamlin.kernel.compiled_forms import compiled_by

_TO_WRITE, _KEEP, _DATA = 1, 3, 1
"""What LLVM's intrinsic is told: the row will be written, should stay in all caches, and is data."""


def _typed(_: Any, table: Any, row: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of `prefetch`, and what compiles it."""
    from numba import types

    return types.void(table, row), _compiled


def _compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types

    (table, row), types_ = arguments, signature.args
    array = context.make_array(types_[0])(context, builder, table)
    number = context.cast(builder, row, types_[1], types.int64)
    stride = builder.extract_value(array.strides, 0)
    octet, number_type = ir.IntType(8).as_pointer(), ir.IntType(32)
    place = builder.gep(builder.bitcast(array.data, octet), [builder.mul(number, stride)])
    form = ir.FunctionType(ir.VoidType(), [octet, *[number_type] * 3])
    fetch = builder.module.declare_intrinsic("llvm.prefetch", (octet,), form)
    builder.call(fetch, [place, *(number_type(option) for option in (_TO_WRITE, _KEEP, _DATA))])
    return context.get_dummy_value()


@compiled_by(_typed)
def prefetch(table: NDArray[Any], row: Any) -> None:
    """Within a `@kernel`: ask for where a row begins, which changes no value; in Python there is nothing to ask for.

    It may be any row, even one that is not there.
    """
