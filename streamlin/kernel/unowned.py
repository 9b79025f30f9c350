"""Arrays that are not counted.

Compiled code counts the references to each array and to each view of it, with an atomic instruction whenever one is
made, passed on or dropped. Where small pieces of large tables are handed to a `@kernel` by the million, that takes
longer than what the kernel does with them.
"""

from typing import Any

from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from streamlin.kernel.decorator import config

if config.DISABLE_JIT:

    def unowned(array: Any) -> Any:
        """The same array; see the compiled form."""
        return array

else:

    @intrinsic
    def unowned(typing_context: Any, array: Any) -> Any:
        """The same array, for kernels alone: the caller must hold it for as long as any view of the result is used."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            make: Any = make_array
            null: Any = cgutils.get_null_value
            struct = make(signature.return_type)(context, builder, arguments[0])
            struct.meminfo = null(struct.meminfo.type)
            return struct._getvalue()

        return array(array), generate
