"""The highest and lowest value of an array, and its sum, eight values at a time.

A loop that carries one number from value to value waits for each comparison or addition. These carry eight, in one
vector: number i of it is compared with, or added to, each eighth value from i on. LLVM makes no vectors of such a
loop, as it does not change the order of additions, nor which of two equal values is kept.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel import kernel
from streamlin.kernel.compiled_forms import compiled_by

_WIDTH = 8


def _added(builder: Any, so_far: Any, value: Any) -> Any:
    return builder.fadd(so_far, value)


def _kept(sign: str, builder: Any, so_far: Any, value: Any) -> Any:
    return builder.select(builder.fcmp_ordered(sign, value, so_far), value, so_far)


def _farther(builder: Any, so_far: Any, value: Any) -> Any:
    return _kept(">", builder, _kept(">", builder, so_far, value), builder.fneg(value))


def _reduction(combine: Callable[[Any, Any, Any], Any], starts_at_zero: bool) -> Callable[..., Any]:
    """What gives a reduction its type, and compiles it. starts_at_zero : and not at the first values."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir  # type: ignore[import-untyped]
        from numba.core import cgutils

        allocated: Any = cgutils.alloca_once_value
        number, eight = ir.FloatType(), ir.VectorType(ir.FloatType(), _WIDTH)
        x = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(x, ir.PointerType(eight))
        n, size = arguments[1], arguments[1].type
        vectors = builder.sdiv(n, size(_WIDTH))
        result = allocated(builder, number(None) if starts_at_zero else builder.load(x, align=4))
        with builder.if_then(builder.icmp_signed(">", vectors, size(0))):
            carried = allocated(builder, eight(None) if starts_at_zero else builder.load(place, align=4))
            with cgutils.for_range(builder, vectors) as loop:
                value = builder.load(builder.gep(place, [loop.index]), align=4)
                builder.store(combine(builder, builder.load(carried), value), carried)
            vector = builder.load(carried)
            for half in (4, 2, 1):
                other = ir.VectorType(ir.IntType(32), _WIDTH)([*range(half, _WIDTH), *half * [0]])
                vector = combine(builder, vector, builder.shuffle_vector(vector, vector, other))
            builder.store(builder.extract_element(vector, ir.IntType(32)(0)), result)
        with cgutils.for_range_slice(builder, builder.mul(vectors, size(_WIDTH)), n, size(1)) as (k, _):
            value = builder.load(builder.gep(x, [k]), align=4)
            builder.store(combine(builder, builder.load(result), value), result)
        return builder.load(result)

    def typed(_: Any, x: Any, n: Any) -> tuple[Any, Callable[..., Any]]:
        from numba import types

        return types.float32(x, types.int64), compiled

    return typed


@compiled_by(_reduction(partial(_kept, ">"), False), reads=True)
@kernel
def highest(x: NDArray[np.float32], n: int) -> np.float32:
    """Within a `@kernel`: the highest of x[:n], n > 0."""
    top: np.float32 = x[0]
    for k in range(1, n):
        top = x[k] if x[k] > top else top
    return top


@compiled_by(_reduction(partial(_kept, "<"), False), reads=True)
@kernel
def lowest(x: NDArray[np.float32], n: int) -> np.float32:
    """Within a `@kernel`: the lowest of x[:n], n > 0."""
    low: np.float32 = x[0]
    for k in range(1, n):
        low = x[k] if x[k] < low else low
    return low


@compiled_by(_reduction(_farther, True), reads=True)
@kernel
def farthest(x: NDArray[np.float32], n: int) -> np.float32:
    """Within a `@kernel`: the highest absolute value of x[:n], 0 for none."""
    top = np.float32(0.0)
    for k in range(n):
        top = abs(x[k]) if abs(x[k]) > top else top
    return top


@compiled_by(_reduction(_added, True), reads=True)
@kernel
def sum_of(x: NDArray[np.float32], n: int) -> np.float32:
    """Within a `@kernel`: the sum of x[:n].

    Every eighth one is added, then these eight, then what is behind whole eights.
    """
    a = b = c = d = e = f = g = h = np.float32(0.0)
    eights = n // 8 * 8
    for k in range(0, eights, 8):
        a, b, c, d = a + x[k], b + x[k + 1], c + x[k + 2], d + x[k + 3]
        e, f, g, h = e + x[k + 4], f + x[k + 5], g + x[k + 6], h + x[k + 7]
    total: np.float32 = ((a + e) + (c + g)) + ((b + f) + (d + h))
    for k in range(eights, n):
        total += x[k]
    return total


@kernel
def best_of(x: NDArray[np.float32], n: int) -> int:
    """The index of the highest of x[:n], the first of equal ones."""
    top = highest(x, n)
    for k in range(n):
        if x[k] == top:
            return k
    return 0
