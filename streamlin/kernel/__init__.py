"""Compiled functions: the decorators, calls with bound arguments, and byte buffers."""

from streamlin.kernel.decorator import inlined_kernel, kernel

__all__ = ["inlined_kernel", "kernel"]
