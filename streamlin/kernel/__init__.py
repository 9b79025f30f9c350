"""Compiled functions: the decorator, calls with bound arguments, and byte buffers."""

from streamlin.kernel.decorator import kernel

__all__ = ["kernel"]
