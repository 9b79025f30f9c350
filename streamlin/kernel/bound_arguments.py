"""Calls of kernels with arguments that are bound once and stay for all calls.

On every call numba determines the type of each argument and unpacks each array. For a dozen arguments that takes a
microsecond, as long as scoring a short text. Arguments that stay the same from call to call are therefore boxed once,
and the compiled code is called without the dispatch on types.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Protocol

from streamlin.kernel.settings import interprets


class BoundTuple(Protocol):
    """Bound arguments as kernels receive them, as their first argument.

    items : the tuple, or named tuple, of arrays and numbers.
    """

    items: Any


class BoundArguments:
    """Arguments that many calls of one or several kernels share.

    items : arrays and numbers.
    """

    def __init__(self, items: tuple[Any, ...]) -> None:
        self._items = _boxed(items)
        self._compiled: dict[Callable[..., Any], Callable[..., Any]] = {}

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a kernel with the bound arguments and these; the types must be the same in each call (not checked)."""
        try:
            compiled = self._compiled[function]
        except KeyError:
            compiled = self._compiled[function] = _compiled_for(function, self._items, *arguments)
        return compiled(self._items, *arguments)


def _boxed(items: tuple[Any, ...]) -> BoundTuple:
    if interprets():
        return SimpleNamespace(items=items)
    from streamlin.kernel.boxes import boxed

    box: BoundTuple = boxed(items)
    return box


def _compiled_for(function: Any, *arguments: Any) -> Any:
    """The compiled code of a kernel for arguments of these types."""
    if interprets():
        return function
    from numba import typeof

    return function.compile(tuple(map(typeof, arguments)))
