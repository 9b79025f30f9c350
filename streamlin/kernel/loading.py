"""Loads compiled kernels with what a call of them needs, and not what compiling another kernel would.

numba parses a kernel's bitcode, names all functions in it, imports the modules of all functions that it consists of,
and compiles a runtime library, which is most of the time of loading. Here all of it waits until a kernel is compiled.
That is not possible by the public interface, so it is done for versions it was tested with; others load as they do.
"""

import io
import pickle
import sys
from functools import cache
from typing import Any

import llvmlite.binding as ll  # type: ignore[import-untyped]
import numba
import numpy as np
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import Environment, _rebuild_env, lookup_environment
from numba.core.runtime import _nrt_python as runtime  # type: ignore[attr-defined]
from numba.core.runtime.nrt import rtsys
from numba.core.typing.typeof import _typeof_ndarray, typeof_impl
from numba.np.numpy_support import from_dtype, map_layout

IS_TESTED = numba.version_info.short == (0, 68)


@cache
def prepare(context: Any) -> None:
    """Name the functions of numba's runtime that compiled code calls."""
    if not IS_TESTED:
        rtsys.initialize(context)
        return
    for name, address in runtime.c_helpers.items():
        ll.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def _type_of_array(array: Any, context: Any) -> Any:
    """numba's type of an array; unlike numba, it imports `numpy.ma` only for arrays that may be masked."""
    try:
        kind = from_dtype(array.dtype) if type(array) is np.ndarray else None
    except numba.NumbaNotImplementedError:
        kind = None
    if kind is None:
        return _typeof_ndarray(array, context)  # type: ignore[no-untyped-call]
    layout = map_layout(array)
    return numba.types.Array(kind, array.ndim, layout, readonly=not array.flags.writeable)


if IS_TESTED:
    typeof_impl.register(np.ndarray)(_type_of_array)


def unpickled(content: bytes) -> Any:
    """What numba has pickled."""
    return _Unpickler(io.BytesIO(content)).load() if IS_TESTED else pickle.loads(content)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        return _environment if found is _rebuild_env else found


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """The environment of a function, as numba makes it, but its module is not imported.

    Compiled code reads only the constants; the name is for the case that the function is part of a kernel to be kept.
    """
    found = lookup_environment(name)  # type: ignore[no-untyped-call]
    if found is None:
        found = Environment(vars(sys.modules[module]) if module in sys.modules else {"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found


class LoadedLibrary(JITCodeLibrary):
    """Compiled code; that of a kernel that was loaded gets its bitcode when a kernel that calls it is compiled."""

    _bitcode: bytes | None = None
    _object: bytes | None = None

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != "object":
            return super()._unserialize(codegen, state)  # type: ignore[no-untyped-call]
        library = codegen.create_library(name)
        library._object, library._bitcode = data
        library.enable_object_caching()
        library._set_compiled_object(library._object)
        library._finalize_final_module()
        return library

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function, 0 if there is none of this name."""
        if self._object is None:
            return super().get_pointer_to_function(name)  # type: ignore[no-any-return,no-untyped-call]
        is_there = name.encode() + b"\0" in self._object  # in its table of symbols; LLVM ends the process otherwise
        return self._codegen._engine.get_function_address(name) if is_there else 0

    def _get_module_for_linking(self) -> Any:
        if self._bitcode is not None:
            self._shared_module, self._bitcode = ll.parse_bitcode(self._bitcode), None
            self._codegen._engine._load_defined_symbols(self._shared_module)  # type: ignore[no-untyped-call]
        return super()._get_module_for_linking()  # type: ignore[no-untyped-call]
