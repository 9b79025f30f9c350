"""Functions that only kernels call: they are linked into the kernel, and not translated by themselves.

numba optimizes each compiled function and translates it into machine code, then links it into the functions that call
it, where it is most often inlined, optimized again and translated again. Here a function becomes machine code when its
address is asked for, as the entry from Python is; so half of LLVM's work falls away. Results are the same to the bit:
LLVM does not reorder arithmetic at any level of optimization.
"""

from typing import Any

from numba.core.codegen import JITCPUCodegen

from streamlin.kernel.loading import IS_TESTED, LoadedLibrary


class _Library(LoadedLibrary):
    """Code of a function and of those that it calls; finalizing it only links."""

    _is_translated = False

    def finalize(self) -> None:
        self._raise_if_finalized()  # type: ignore[no-untyped-call]
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function; 0 if there is none of this name, as there is no entry of an inner function."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        if not self._is_translated and not self._defines(name):
            without_place: set[str] = self._codegen.without_place  # type: ignore[attr-defined]
            without_place |= {variable.name for variable in self._final_module.global_variables}
            return 0
        self._translate()
        return super().get_pointer_to_function(name)

    def serialize_using_object_code(self) -> Any:
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        self._translate()
        return super().serialize_using_object_code()  # type: ignore[no-untyped-call]

    def _translate(self) -> None:
        if not self._is_translated:
            self._optimize_final_module()  # type: ignore[no-untyped-call]
            self._final_module.verify()
            self._finalize_final_module()

    def _finalize_final_module(self) -> None:
        self._is_translated = True
        super()._finalize_final_module()  # type: ignore[no-untyped-call]

    def _defines(self, name: str) -> bool:
        return any(function.name == name and not function.is_declaration for function in self._final_module.functions)

    def _optimize_functions(self, ll_module: Any) -> None:
        """As numba's, but for functions that are only declared, which it passes to the optimizer, too."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()  # type: ignore[no-untyped-call]
                passes.run(function, builder)


class _Codegen(JITCPUCodegen):
    _library_class = _Library
    without_place: set[str]

    def set_env(self, env_name: str, env: Any) -> None:
        """A function that is not translated has no place for its environment, and no use for it."""
        if env_name not in self.without_place:
            super().set_env(env_name, env)  # type: ignore[no-untyped-call]


def translate_entries_alone(target_context: Any) -> None:
    """From now on, numba translates only what Python calls, and loads as `LoadedLibrary` does."""
    if IS_TESTED:
        codegen = target_context.codegen()
        codegen.__class__, codegen.without_place = _Codegen, set()
