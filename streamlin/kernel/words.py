"""Reading and writing several bytes at once, little-endian.

Byte by byte, LLVM makes the same instruction of it, but each place where it is done takes numba a while to compile.
"""

import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from streamlin.kernel.decorator import config, kernel


@kernel
def _loaded(data: NDArray[np.uint8], i: np.uint64, size: int) -> np.uint64:
    """The bytes one by one, so that each index can be checked, and for plain Python."""
    word = np.uint64(0)
    for byte in range(np.uint64(size)):
        word |= np.uint64(data[i + np.uint64(byte)]) << np.uint64(8 * byte)
    return word


@kernel
def _load_word(data: NDArray[np.uint8], i: np.uint64) -> np.uint64:
    return _loaded(data, i, 8)


@kernel
def _load_half(data: NDArray[np.uint8], i: np.uint64) -> np.uint32:
    return np.uint32(_loaded(data, i, 4))


@kernel
def _store_word(data: NDArray[np.uint8], i: np.uint64, word: np.uint64) -> None:
    for byte in range(np.uint64(8)):
        data[i + np.uint64(byte)] = np.uint8((word >> np.uint64(8 * byte)) & np.uint64(0xFF))


def _place(context: Any, builder: Any, signature: Any, arguments: Any, bits: int) -> Any:
    """The address of byte i, as that of a number."""
    from llvmlite import ir  # type: ignore[import-untyped]

    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(bits).as_pointer())


def _little_endian(builder: Any, word: Any) -> Any:
    return word if sys.byteorder == "little" else builder.bswap(word)


def _loading(kind: Any) -> Callable[..., Any]:
    """What gives a load its type, and compiles it."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments, kind.bitwidth)
        return _little_endian(builder, builder.load(place, align=1))

    def typed(_: Any, data: Any, i: Any) -> tuple[Any, Callable[..., Any]]:
        return kind(data, types.uint64), compiled

    return typed


def _storing(_: Any, data: Any, i: Any, word: Any) -> tuple[Any, Callable[..., Any]]:
    """The type of a store, and what compiles it."""

    def compiled(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments, 64)
        builder.store(_little_endian(builder, arguments[2]), place, align=1)
        return context.get_dummy_value()

    return types.void(data, types.uint64, types.uint64), compiled


_BYTE_BY_BYTE = config.DISABLE_JIT or config.BOUNDSCHECK

load_word = cast(
    Callable[[NDArray[np.uint8], np.uint64], np.uint64],
    _load_word if _BYTE_BY_BYTE else intrinsic(_loading(types.uint64)),
)
"""`load_word(data, i)`, within a `@kernel`: the eight bytes from i on."""
load_half = cast(
    Callable[[NDArray[np.uint8], np.uint64], np.uint32],
    _load_half if _BYTE_BY_BYTE else intrinsic(_loading(types.uint32)),
)
"""`load_half(data, i)`, within a `@kernel`: the four bytes from i on."""
store_word = cast(
    Callable[[NDArray[np.uint8], np.uint64, np.uint64], None], _store_word if _BYTE_BY_BYTE else intrinsic(_storing)
)
"""`store_word(data, i, word)`, within a `@kernel`: set the eight bytes from i on."""
