"""Functions with a compiled form of their own, for what numba has no word for."""

from collections.abc import Callable
from typing import Any, cast

from streamlin.kernel.decorator import Function, when_compiling
from streamlin.kernel.settings import checks_bounds


class Intrinsic:
    """A function with a compiled form of its own, which numba finds when it compiles a kernel that calls it.

    py_func : what it does, for plain Python. typed : what gives a call its type, and compiles it, see
        `numba.extending.intrinsic`. reads : whether it reads or writes an array: `py_func`, a kernel, then takes its
        place where indices are checked.
    """

    def __init__(self, py_func: Callable[..., Any], typed: Callable[..., Any], reads: bool) -> None:
        self.py_func, self._typed, self._reads = py_func, typed, reads
        self._type: Any = None

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)

    @property
    def _numba_type_(self) -> Any:
        """By which numba knows it in kernels."""
        if self._type is None:
            self._type = self._made_type()
        return self._type

    def _made_type(self) -> Any:
        if self._reads and checks_bounds():
            return cast(Any, self.py_func)._numba_type_
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        context = cpu_target.typing_context
        made = intrinsic(self._typed)
        context.refresh()
        return context.resolve_value_type(made)


def compiled_by(typed: Callable[..., Any], *, reads: bool = False) -> Callable[[Function], Function]:
    """Give a function a compiled form of its own, see `Intrinsic`."""

    def made(function: Function) -> Function:
        return cast(Function, Intrinsic(function, typed, reads))

    return made


def overloaded_by(form: Callable[..., Any]) -> Callable[[Function], Function]:
    """Give a function a form for kernels; `form` makes a function of the types, see `numba.extending.overload`."""

    def marked(function: Function) -> Function:
        def register() -> None:
            from numba.extending import overload

            overload(function, strict=False)(form)

        when_compiling(register)
        return function

    return marked
