"""Reading and writing several bytes at once, little-endian.

Byte by byte, LLVM makes the same instruction of it, but each place where it is done takes numba a while to compile.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamlin.kernel.compiled_forms import compiled_by
from streamlin.kernel.decorator import kernel


@kernel
def _loaded(data: NDArray[np.uint8], i: np.uint64, size: int) -> np.uint64:
    """The bytes one by one, so that each index can be checked, and for plain Python."""
    word = np.uint64(0)
    for byte in range(np.uint64(size)):
        word |= np.uint64(data[i + np.uint64(byte)]) << np.uint64(8 * byte)
    return word


def _place(context: Any, builder: Any, signature: Any, arguments: Any, bits: int) -> Any:
    """The address of byte i, as that of a number."""
    from llvmlite import ir  # type: ignore[import-untyped]

    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(bits).as_pointer())


def _little_endian(builder: Any, word: Any) -> Any:
    return word if sys.byteorder == "little" else builder.bswap(word)


def _loading(bits: int) -> Callable[..., Any]:
    """What gives a load its type, and compiles it."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments, bits)
        return _little_endian(builder, builder.load(place, align=1))

    def typed(_: Any, data: Any, i: Any) -> tuple[Any, Callable[..., Any]]:
        from numba import types

        return types.Integer.from_bitwidth(bits, signed=False)(data, types.uint64), compiled

    return typed


def _storing(_: Any, data: Any, i: Any, word: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of a store, and what compiles it."""
    from numba import types

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments, 64)
        builder.store(_little_endian(builder, arguments[2]), place, align=1)
        return context.get_dummy_value()

    return types.void(data, types.uint64, types.uint64), compiled


@compiled_by(_loading(64), reads=True)
@kernel
def load_word(data: NDArray[np.uint8], i: np.uint64) -> np.uint64:
    """Within a `@kernel`: the eight bytes from i on."""
    return _loaded(data, i, 8)


@compiled_by(_loading(32), reads=True)
@kernel
def load_half(data: NDArray[np.uint8], i: np.uint64) -> np.uint32:
    """Within a `@kernel`: the four bytes from i on."""
    return np.uint32(_loaded(data, i, 4))


@compiled_by(_storing, reads=True)
@kernel
def store_word(data: NDArray[np.uint8], i: np.uint64, word: np.uint64) -> None:
    """Within a `@kernel`: set the eight bytes from i on."""
    for byte in range(np.uint64(8)):
        data[i + np.uint64(byte)] = np.uint8((word >> np.uint64(8 * byte)) & np.uint64(0xFF))
