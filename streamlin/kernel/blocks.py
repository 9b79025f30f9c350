"""64 bytes of text at once: which of them belong to tokens, as the bits of one number."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel.compiled_forms import compiled_by
from streamlin.kernel.decorator import kernel

BLOCK, RANGES = 64, 4
"""Bytes of a block, and ranges of bytes that belong to tokens."""
_A = ord("A")
_CASE = ord("a") - _A


def _compiled_block(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    from llvmlite import ir  # type: ignore[import-untyped]

    data, ranges, out = (context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 2, 3))
    vector = ir.VectorType(ir.IntType(8), BLOCK)
    number, undefined = ir.IntType(32), ir.Constant(vector, ir.Undefined)

    def place(array: Any, i: Any) -> Any:
        return builder.bitcast(builder.gep(array.data, [i]), vector.as_pointer())

    def everywhere(k: int) -> Any:
        byte = builder.load(builder.gep(ranges.data, [number(k)]))
        first = builder.insert_element(undefined, byte, number(0))
        return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(number, BLOCK), [0] * BLOCK))

    read = builder.load(place(data, arguments[1]), align=1)
    tests = [
        builder.icmp_unsigned("<", builder.sub(read, everywhere(k)), everywhere(RANGES + k)) for k in range(RANGES)
    ]
    inside = tests[0]
    for test in tests[1:]:
        inside = builder.or_(inside, test)
    from_a = builder.sub(read, ir.Constant(vector, [_A] * BLOCK))
    is_capital = builder.icmp_unsigned("<", from_a, everywhere(2 * RANGES))
    case = builder.select(is_capital, ir.Constant(vector, [_CASE] * BLOCK), ir.Constant(vector, [0] * BLOCK))
    builder.store(builder.add(read, case), place(out, arguments[4]), align=1)
    return builder.bitcast(inside, ir.IntType(BLOCK))


def _typed_block(_: Any, data: Any, i: Any, ranges: Any, out: Any, at: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of `write_block`, and what compiles it."""
    from numba import types

    return types.uint64(data, types.uint64, ranges, out, types.uint64), _compiled_block


def _typed_zeros(_: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of `trailing_zeros`, and what compiles it."""
    from numba import types

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), compiled


def _typed_ones(_: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of `ones`, and what compiles it."""
    from numba import types

    return types.uint64(types.uint64), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])


@compiled_by(_typed_block, reads=True)
@kernel
def write_block(
    data: NDArray[np.uint8], i: np.uint64, ranges: NDArray[np.uint8], out: NDArray[np.uint8], at: np.uint64
) -> np.uint64:
    """Within a `@kernel`: a number whose bit j says whether byte i + j is in a range.

    Sets `out[at : at + 64]` to the bytes, capitals of ASCII in lower case if so wanted. Here it is written byte by
    byte, so that each index can be checked.

    ranges uint8[9] : see `streamlin.features.characters.ascii_ranges`.
    """
    bits = np.uint64(0)
    for j in range(np.uint64(BLOCK)):
        byte = int(data[i + j])
        for k in range(RANGES):
            if 0 <= byte - int(ranges[k]) < ranges[RANGES + k]:
                bits |= np.uint64(1) << np.uint64(j)
        out[at + j] = np.uint8(byte + _CASE if 0 <= byte - _A < ranges[2 * RANGES] else byte)
    return bits


@compiled_by(_typed_zeros)
def trailing_zeros(bits: np.uint64) -> np.uint64:
    """Within a `@kernel`: the number of the lowest bit that is set; 64 if none is."""
    return np.uint64((int(bits) & -int(bits)).bit_length() - 1 if bits else BLOCK)


@compiled_by(_typed_ones)
def ones(bits: np.uint64) -> np.uint64:
    """Within a `@kernel`: how many bits are set."""
    return np.uint64(int(bits).bit_count())
