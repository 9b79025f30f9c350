"""Many arguments as one, for calls of compiled code that do less than it takes to look at their arguments.

numba looks at the type of each argument and takes each array apart: for a dozen a microsecond, in which a short text is
scored. So what stays from call to call is bundled once, and the code is entered without another look.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from numba import typeof, types
from numba.experimental import structref

from streamlin.kernel.decorator import config, kernel


@structref.register
class _ItemsType(types.StructRef):
    """What numba calls a bundle's items."""


class Items(structref.StructRefProxy):
    """A bundle as kernels get it, as their first argument.

    items : the tuple, or named tuple, of arrays and numbers.
    """

    items: Any


structref.define_proxy(Items, _ItemsType, ["items"])  # type: ignore[no-untyped-call]


@kernel
def _bundled(items: Any) -> Any:
    return Items(items)  # type: ignore[no-untyped-call]


class BoundArguments:
    """Arguments that many calls of some kernels have in common.

    items : arrays and numbers.
    """

    def __init__(self, items: tuple[Any, ...]) -> None:
        self._items = SimpleNamespace(items=items) if config.DISABLE_JIT else _bundled(items)
        self._entries: dict[Callable[..., Any], Callable[..., Any]] = {}

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a kernel; its further arguments must be of the same types each time: nobody looks."""
        try:
            enter = self._entries[function]
        except KeyError:
            enter = self._entries[function] = _entry(function, self._items, *arguments)
        return enter(self._items, *arguments)


def _entry(function: Any, *arguments: Any) -> Any:
    """The compiled code of a kernel for arguments of these types."""
    if config.DISABLE_JIT:
        return function
    return function.compile(tuple(map(typeof, arguments)))
